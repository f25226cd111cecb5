import HealthModel
import Pipeline
import SampleStore

/// How things are now, for targets that tell more than each change by itself: the last sample of each series that goes there, with the names of its device
/// and person, and what came together.
///
/// What a hub reads itself is left out once its device is forgotten; its samples stay in the store, and go to the target all the same.
public struct PresentSamples {
    private let store: SampleStore
    private let settings: TargetSettings
    /// Sources that only a hub's own devices have, by how their ids begin.
    private static let live = ["ble.", "serial."]

    /// - Parameter settings: those of the target.
    public init(_ store: SampleStore, _ settings: TargetSettings) { (self.store, self.settings) = (store, settings) }

    /// - Throws: ``StoreError`` where the store cannot be read.
    public func all() throws -> [PresentSample] {
        let persons = try store.personNames()
        let adopted = try names()
        return try store.latestSamples(where: { Self.isShown($0) && settings.passes($0) }).compactMap { stored in
            let origin = stored.sample.origin
            let called = origin.device.flatMap { adopted[$0.key] }
            if called == nil, Self.live.contains(where: origin.source.id.hasPrefix) { return nil }
            let name = called ?? origin.device?.name ?? origin.device?.model ?? origin.source.name
            return PresentSample(
                stored.sample, deviceName: name, person: origin.subject == store.subject ? nil : persons[origin.subject])
        }
    }

    /// Quantities, workouts, and stages of sleep: being in bed, which goes on beside them, is none.
    private static func isShown(_ sample: Sample) -> Bool {
        switch sample.origin.kind {
        case .quantity, .workout: true
        case .category: sample.origin.type.id == "sleepAnalysis" && sample.value > 0
        default: false
        }
    }

    /// The samples of given types that came in one packet with a sample, itself among them where it is still there, and go to the target.
    ///
    /// - Throws: ``StoreError`` where the store cannot be read.
    public func packet(of sample: Sample, _ types: Set<SampleType>) throws -> [Sample] {
        let origin = sample.origin
        let query = SampleQuery(
            types: types, from: sample.start, to: Instant(microseconds: sample.start.microseconds + 1), subject: origin.subject)
        let cursor = try store.samples(matching: query)
        defer { cursor.close() }
        var found: [Sample] = []
        while let other = try cursor.next()?.sample {
            let isTogether = other.group == nil ? other.identity == sample.identity : other.group == sample.group
            guard isTogether, other.origin.source.id == origin.source.id, other.origin.device?.key == origin.device?.key,
                settings.passes(other)
            else { continue }
            found.append(other)
        }
        return found
    }

    /// What a sample's device, or source where there is none, has of its type and person on a day: by the store's own statistics, so that what two sources
    /// tell of the same time counts once, and an interval over midnight by its share.
    ///
    /// - Throws: ``StoreError`` where the store cannot be read.
    public func total(of sample: Sample, at now: Instant, in zone: TimeZoneRules) throws -> DayTotal? {
        let origin = sample.origin
        guard origin.type.kind == .quantity, origin.type.aggregation == .cumulative else { return nil }
        let days = CalendarIntervals(.day, zone: zone)
        let day = days.index(of: now)
        let (start, end) = (days.start(of: day), days.start(of: day + 1))
        var query = StatisticsQuery(type: origin.type, intervals: days, from: start, to: end, subject: origin.subject)
        let isHere: SamplePredicate =
            if let device = origin.device {
                .comparison(.device(.key), .equal, .text(device.key))
            } else {
                .comparison(.source(.id), .equal, .text(origin.source.id))
            }
        query.predicate = .and([isHere] + (settings.filter.map { [$0] } ?? []))
        let found = try store.statistics(query).first { $0.start == start && $0.subject == origin.subject }
        return DayTotal(sum: found?.sum ?? 0, start: start, end: end)
    }

    /// What adopted devices are called, by each key that their readings may go by.
    private func names() throws -> [String: String] {
        let aliases = try store.aliases()
        var names: [String: String] = [:]
        for device in try store.adoptedDevices() {
            for key in [device.address, device.key, device.goesBy] { names[aliases[key] ?? key] = device.name }
        }
        return names
    }
}
