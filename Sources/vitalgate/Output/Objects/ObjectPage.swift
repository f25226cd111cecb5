import CommandLineKit
import Formats
import HealthAnswers
import HealthModel
import SampleStore

/// `show UUID`: a readable page about one sample.
struct ObjectPage {
    let store: SampleStore
    let times: ShownTimes
    var page: PageText

    init(_ context: CommandContext, _ store: SampleStore) throws {
        self.store = store
        times = try context.times()
        page = PageText(terminal: context.streams.outputTerminal)
    }

    mutating func text(of stored: StoredSample) throws -> String {
        let stored = try RecordNames(store).named(stored)
        let sample = stored.sample
        page.heading("\(sample.origin.type.id)  \(sample.shown ?? Self.value(of: sample))")
        try head(stored)
        try kind(of: sample)
        for (key, value) in sample.metadata?.entries ?? [] { metadata.append([key, Self.text(of: value)]) }
        page.table("metadata", [.init("key", .left, minimumWidth: 16), .init("value", .left, minimumWidth: 16)], metadata)
        for hint in hints { page.hint(hint) }
        return page.text
    }

    private var metadata: [[String]] = []
    var hints: [String] = []

    private mutating func head(_ stored: StoredSample) throws {
        let sample = stored.sample
        page.row("uuid", stored.uuid.description)
        // A health record has its own date, such as the day of a test.
        let record = sample.origin.kind == .clinicalRecord ? try? sample.body?.decoded(as: ClinicalRecord.self) : nil
        page.row("date", record?.date)
        page.row(sample.origin.kind == .clinicalRecord ? "added" : "when", when(sample))
        if sample.origin.person != store.owner {
            page.row("person", try store.people.names()[sample.origin.person] ?? sample.origin.person)
        }
        let source = sample.origin.source
        page.row(
            "source", source.displayName + (source.version.map { " \($0)" } ?? "") + " (\(source.id))")
        page.row("device", sample.origin.device.map(Self.text))
        if sample.origin.kind == .quantity { page.row("received as", "\(sample.numeral.text) \(Readable.unit(sample.unit))") }
        page.row(
            "received",
            "\(times.local(sample.received)), time from \(sample.timeOrigin.name), ledger entry \(stored.ingest)")
        if let group = sample.group { page.row("group", Sample.groupText(group)) }
        if let whole = try correlation(of: sample) {
            page.row("belongs to", "\(whole.sample.origin.type.id) \(whole.uuid)")
        }
    }

    /// The times and the duration: `2026-11-20 07:31:00 +01:00 to 08:00:02, 29:02`
    private func when(_ sample: Sample) -> String {
        let start = times.start(of: sample)
        guard sample.end != sample.start else { return start }
        var end = times.time(sample.end, of: sample)
        // The end omits a date and a zone that are the same as at the start.
        if start.prefix(11) == end.prefix(11) { end = String(end.dropFirst(11)) }
        if let zone = start.split(separator: " ").last, end.hasSuffix(" \(zone)") { end = String(end.dropLast(zone.count + 1)) }
        let length = Double(sample.end.microseconds &- sample.start.microseconds) / 1e6
        return "\(start) to \(end), \(Readable.clock(length))"
    }

    /// A time in the body, in the page's zone.
    func moment(_ offset: Int64, after sample: Sample) -> String {
        times.time(Instant(microseconds: sample.start.microseconds &+ offset), of: sample)
    }

    /// The correlation that contains a sample, searched around the sample's time.
    private func correlation(of sample: Sample) throws -> StoredSample? {
        guard sample.origin.kind == .quantity || sample.origin.kind == .category,
            let object = ObjectField(named: "object")
        else { return nil }
        let day = Int64(86_400_000_000)
        let near = SamplePredicate.starts(
            from: Instant(microseconds: sample.start.microseconds &- day),
            before: Instant(microseconds: sample.start.microseconds &+ day))
        let reported = [sample.identity] + (try store.duplicates.explain(sample.identity)?.duplicates.map(\.other.uuid) ?? [])
        let names = SamplePredicate.or(reported.map { .comparison(.object(object), .equal, .text($0.description)) })
        let cursor = try store.samples.cursor(matching: SampleQuery(.and([near, names]), limit: 1))
        defer { cursor.close() }
        return try cursor.next()
    }

    // MARK: Texts

    static func value(of sample: Sample) -> String {
        guard sample.origin.kind == .quantity else { return "" }
        return "\(Readable.number(sample.value)) \(Readable.unit(sample.origin.type.canonicalUnit))"
    }

    private static func text(of value: MetadataValue) -> String {
        switch value {
        case .string(let text): text
        case .number(let numeral): numeral.text
        case .boolean(let isTrue): isTrue ? "yes" : "no"
        case .quantity(let numeral, let unit): "\(numeral.text) \(Readable.unit(unit))"
        }
    }

    private static func text(of device: Device) -> String {
        var parts = [device.name, device.manufacturer, device.model].compactMap { $0 }
        if parts.isEmpty { parts = [device.key] }
        let rest: [(String, String?)] = [
            ("serial", device.serial), ("hardware", device.hardware), ("firmware", device.firmware),
            ("software", device.software),
        ]
        return (parts + rest.compactMap { name, text in text.map { "\(name) \($0)" } }).joined(separator: ", ")
    }

    /// An amount in a unit if it can be converted, otherwise the original amount.
    static func text(_ amount: Amount?, in unit: HealthModel.Unit? = nil, of type: SampleType? = nil) -> String? {
        guard let amount else { return nil }
        if let unit, let value = amount.value(in: unit, of: type) { return "\(Readable.number(value)) \(Readable.unit(unit))" }
        return amount.numeral.text + (amount.unit.map { " \(Readable.unit($0))" } ?? "")
    }

    /// The sample with a UUID that a body refers to, or the reason why it is missing.
    ///
    /// - Parameter holder: The sample with the body.
    func sample(of uuid: String, in holder: Sample) throws -> (text: String, sample: StoredSample?) {
        let found = try sample(of: uuid)
        guard let sample = found.sample?.sample, !ReferenceRule(in: holder).permits(sample) else { return found }
        return ("of another person, client or time", nil)
    }

    private func sample(of uuid: String) throws -> (text: String, sample: StoredSample?) {
        guard let identity = SampleIdentity(uuid) else { return ("no UUID", nil) }
        switch try store.samples.lookup(identity) {
        case .live(let stored): return (stored.sample.shown ?? Self.value(of: stored.sample), stored)
        case .deleted(_, let replacement?): return ("replaced by \(replacement)", try store.samples.currentSample(identity))
        case .deleted(_, nil): return ("deleted", nil)
        case nil:
            guard let first = try store.samples.currentSample(identity) else { return ("not in the store", nil) }
            return ("duplicate of \(first.uuid)", first)
        }
    }
}
