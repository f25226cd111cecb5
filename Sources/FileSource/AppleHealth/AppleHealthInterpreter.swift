import Glibc
import HealthModel
import Pipeline

/// Interprets the elements of an Apple Health export. Each `Record` of a quantity or category type, `Correlation`, `Workout`,
/// `WorkoutRoute`, `ActivitySummary`, `Audiogram` and `VisionPrescription` is one reading, and so is each file of an electrocardiogram.
/// Other elements are counted.
///
/// - The value of a category is the raw number of its case, whichever of its names the export uses. An unknown type is kept under its own
///   name. An unknown case is not guessed but quarantined with its row.
/// - The instants of a reading are the record's start and end. The creation date is when the phone stored the record. It is dropped,
///   because it differs in every row and would make all metadata unique.
/// - The source id is `apple-health/` and the source's name with no-break blanks replaced, because the phone uses them inconsistently.
///   The source's name stays as written. The memory address in a device's description is ignored.
/// - A record inside a `Correlation` usually also appears outside of it. It is read like any other and marked as a repeat,
///   `correlationRecord`, so that nothing is lost if it does not. The correlation refers to the samples.
/// - The number of a workout is that of its activity. The rest is in its body, which is not part of its identity.
/// - A day's rings are a record with the day's date. Its version is the time of the export, so the latest export wins.
/// - The two pressures of one measurement share a group, because the export writes them far from each other. The group is a hash of
///   source, device, start and end. Two measurements with the same four share it.
/// - The single beats of a heart rate variability are a separate series. Their number is also the metadata `instantaneousBeats`.
/// - The identity of a route uses the source and times of its element, or those of its workout. So the workout can refer to its routes
///   before their files are read. It also refers to rejected routes, because a later export may contain the file.
/// - The attributes of `Me` become characteristics.
/// - `HKMetadataKeySyncIdentifier` and `…SyncVersion` become the reading's record id instead of metadata.
package final class AppleHealthInterpreter: FrameInterpreter {
    typealias Texts = UnsafeBufferPointer<UnsafeRawBufferPointer>

    let registry: OriginRegistry
    private var time = ExportTime()
    private let types = ByteMemo<RecordKind>(capacity: 512)
    private let units = ByteMemo<Unit>(capacity: 128)
    /// Numbers that distinguish sources and devices. Their texts are only parsed for a new origin.
    private let sources = ByteMemo<UInt64>(capacity: 512)
    private let devices = ByteMemo<UInt64>(capacity: 512)
    private let origins: UnsafeMutablePointer<OriginEntry?>
    private let metadata = ByteMemo<Metadata>(capacity: 1024)
    private var lastNumber: UInt64 = 0
    /// For lists of texts that are not adjacent in the row.
    private var scratch: [UnsafeRawBufferPointer] = []
    /// The records of the correlation that is being read.
    private var members: [SampleIdentity] = []
    /// Routes that wait for their workout or for their files.
    var routes = ExportRoutes()
    private let electrocardiograms: ElectrocardiogramInterpreter
    /// The time of the export in seconds since 1970. It decides which of two versions of a day's rings is later.
    var exported: Int64 = 0
    private(set) var received = TimeBounds.earliest
    var names = SkipNames()
    private var unknownQuantities = 0
    var leftOut = LeftOut()

    private static let originCapacity = 2048
    /// The maximum number of quantities of unknown types that are kept, because they all go to quarantine. The others are counted.
    private static let maximumUnknownQuantities = 10_000

    private struct OriginEntry {
        var type: SampleType
        var source: UInt64
        var device: UInt64
        var origin: Origin
    }

    enum Meaning {
        case reading(Reading)
        case several([Reading])
        case other(FrameOutcome)
    }

    private enum RecordKind {
        case quantity(SampleType)
        case bloodPressure(SampleType)
        case category(SampleType)
        case correlation(SampleType)
        /// A type that this version does not store.
        case unknown
    }

    private static let syncIdentifier: StaticString = "HKMetadataKeySyncIdentifier"
    private static let syncVersion: StaticString = "HKMetadataKeySyncVersion"
    private static let correlationRecord = SkipKind("correlationRecord")

    /// - Parameter registry: the registry of the person whose export it is.
    package init(registry: OriginRegistry) {
        self.registry = registry
        electrocardiograms = ElectrocardiogramInterpreter(registry: registry)
        origins = .allocate(capacity: Self.originCapacity)
        origins.initialize(repeating: nil, count: Self.originCapacity)
    }

    deinit {
        origins.deinitialize(count: Self.originCapacity)
        origins.deallocate()
    }

    /// Converts a record to its reading, or returns the outcome without one.
    ///
    /// - Throws: ``Refusal`` if the record is invalid.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        received = frame.received
        guard frame.channel.isEmpty, case .row(let row) = frame.payload else {
            return try interpret(file: frame, into: &readings)
        }
        let cells = row.cells
        // Rethrowing closures of Swift 6.0 lose the error's type. The reading is returned from the closure and then appended, because
        // appending it inside would copy it.
        let answer: Result<Meaning, Refusal> = cells.withUnsafeBufferPointer { texts in
            do throws(Refusal) {
                return .success(try meaning(of: texts, at: frame.place))
            } catch {
                return .failure(error)
            }
        }
        switch try answer.get() {
        case .reading(let reading):
            readings.append(reading)
            return .readings
        case .several(let several):
            readings += several
            return .readings
        case .other(let outcome): return outcome
        }
    }

    /// Returns the rejected locations of routes, and elements that were not stored.
    package func takeLeftOut() -> LeftOut? {
        guard !leftOut.isEmpty else { return routes.takeLeftOut() }
        var rest = routes.takeLeftOut() ?? LeftOut()
        rest.skipped.merge(leftOut.skipped) { $0 + $1 }
        leftOut = LeftOut()
        return rest
    }

    /// Interprets a row of a file that belongs to the export, or throws the reason why such a file cannot be read.
    @inline(never)
    private func interpret(file frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch frame.channel {
        case GPXRow.channel: return try routes.read(frame, registry: registry, into: &readings)
        case ElectrocardiogramRow.channel: return try electrocardiograms.interpret(frame, into: &readings)
        case ResourceRow.fhir: return .skipped(SkipKind("clinicalRecord"))
        default:
            guard case .malformed(let reason) = frame.payload else { throw Refusal("not a row of an export", at: frame.place) }
            throw Refusal(reason, at: frame.place)
        }
    }

    // Not inlined, because its typed throw makes the optimizer of Swift 6.0.3 release the frame once too often. This has no cost.
    @inline(never)
    func meaning(of texts: Texts, at place: Place) throws(Refusal) -> Meaning {
        guard texts.count >= ExportColumn.metadata, Self.hasColumns(texts[ExportColumn.element]) else {
            return try meaning(ofElement: texts, at: place)
        }
        guard texts[ExportColumn.excess].isEmpty else {
            throw Refusal(
                "the record has an attribute of more than \(ExportRows.maximumAttribute >> 10) KiB or more than "
                    + "\(ExportRows.maximumMetadata) metadata entries", at: place)
        }
        let type: SampleType
        let isWhole = texts[ExportColumn.element].count == Self.correlationName.utf8CodeUnitCount
        var (isBloodPressure, isCategory, isCorrelation) = (false, false, false)
        defer { if isWhole { members.removeAll() } }
        switch try recordKind(texts, at: place) {
        case _ where isWhole && !Self.isCorrelation(texts[ExportColumn.type]): return .other(skipped(texts[ExportColumn.type]))
        case .quantity(let known): type = known
        case .bloodPressure(let known): (type, isBloodPressure) = (known, true)
        case .category(let known): (type, isCategory) = (known, true)
        case .correlation(let known) where isWhole: (type, isCorrelation) = (known, true)
        case .correlation, .unknown: return .other(skipped(texts[ExportColumn.type]))
        }
        if !isCategory, !isCorrelation, !type.isKnown {
            // Its value is of no use without the unit.
            guard unknownQuantities < Self.maximumUnknownQuantities, (try? unit(texts, at: place)) != nil else {
                return .other(skipped(texts[ExportColumn.type]))
            }
            unknownQuantities += 1
        }
        let start = try moment(texts[ExportColumn.startDate], "start", at: place)
        let end = try moment(texts[ExportColumn.endDate], "end", at: place)
        var ordinal: UInt32 = 0
        var body: SampleBody?
        let numeral: Numeral
        if isCorrelation {
            numeral = Numeral(coefficient: 0)
            body = try correlation(ordinal: &ordinal, at: place)
        } else if isCategory {
            numeral = try category(texts[ExportColumn.value], of: type, ordinal: &ordinal, at: place)
        } else {
            numeral = try self.numeral(texts[ExportColumn.value], at: place)
        }
        let unit = isCategory || isCorrelation ? Unit.one : try unit(texts, at: place)
        let origin = origin(texts, type)
        var description: (metadata: Metadata?, record: RecordIdentifier?) = (nil, nil)
        if texts.count > ExportColumn.metadata || !texts[ExportColumn.beats].isEmpty { description = read(metadata: texts) }
        if isCategory, numeral.coefficient < 0 {
            let word = String(decoding: texts[ExportColumn.value].prefix(Self.maximumCaseLength), as: UTF8.self)
            let others = (description.metadata?.entries ?? []).map { ($0.key, $0.value) }
            description.metadata = Metadata(others + [(Metadata.receivedCase, .string(word))])
        }
        let isMember = !texts[ExportColumn.inCorrelation].isEmpty
        let reading = Reading(
            origin: origin, numeral: numeral, unit: unit,
            time: .instants(start: start.instant, end: end.instant, offset: start.offset), ordinal: ordinal,
            group: isBloodPressure ? .shared(Self.group(origin, start.instant, end.instant)) : .none,
            metadata: description.metadata, record: description.record, body: body,
            repeats: isMember ? Self.correlationRecord : nil, place: place)
        if isMember { remember(reading, start.instant, end.instant) }
        return .reading(reading)
    }

    /// The group of two pressures: the lower 62 bits of FNV-1a (64 bits) over source id, device key, start and end, and never 0.
    static func group(_ origin: Origin, _ start: Instant, _ end: Instant) -> UInt64 {
        var hash = StableHash()
        hash.combine(origin.source.id)
        hash.combine("\n")
        hash.combine(origin.device?.key ?? "")
        hash.combine("\n")
        hash.combine(start.microseconds)
        hash.combine(end.microseconds)
        return max(hash.value & 0x3FFF_FFFF_FFFF_FFFF, 1)
    }
}

// Single columns.
extension AppleHealthInterpreter {
    func skipped(_ name: UnsafeRawBufferPointer) -> FrameOutcome {
        .skipped(names.kind(String(decoding: name, as: UTF8.self)))
    }

    @inline(__always) private func recordKind(_ texts: Texts, at place: Place) throws(Refusal) -> RecordKind {
        let key = texts[ExportColumn.type...ExportColumn.type]
        let hash = ByteMemo<RecordKind>.hash(key)
        if let kind = types.find(key, hash) { return kind }
        let kind = try Self.recordKind(String(decoding: texts[ExportColumn.type], as: UTF8.self), at: place)
        types.insert(kind, for: key, hash)
        return kind
    }

    private static func recordKind(_ identifier: String, at place: Place) throws(Refusal) -> RecordKind {
        if identifier.isEmpty { throw Refusal("the record has no type", at: place) }
        if identifier.hasPrefix("HKQuantityTypeIdentifier"), let type = SampleType(quantity: identifier) {
            return type == .bloodPressureSystolic || type == .bloodPressureDiastolic ? .bloodPressure(type) : .quantity(type)
        }
        if identifier.hasPrefix("HKCategoryType"), let type = SampleType(category: identifier) { return .category(type) }
        if identifier.hasPrefix("HKCorrelationType") {
            guard let type = SampleType(identifier), type.kind == .correlation else { return .unknown }
            return .correlation(type)
        }
        return .unknown
    }

    @inline(__always)
    func moment(
        _ text: UnsafeRawBufferPointer, _ name: StaticString, at place: Place
    ) throws(Refusal) -> ExportTime.Moment {
        do throws(ExportTime.Problem) {
            return try time.read(text)
        } catch {
            throw Refusal("the record's \(name) \(error.reason)", at: place)
        }
    }

    @inline(__always) private func numeral(_ text: UnsafeRawBufferPointer, at place: Place) throws(Refusal) -> Numeral {
        do throws(NumeralError) {
            return try Numeral(parsing: text)
        } catch {
            if text.contains(UInt8(ascii: ",")) {
                throw Refusal("the value has a comma, which may be a decimal sign or separate thousands", at: place)
            }
            throw Refusal(text.isEmpty ? "the record has no value" : "value: \(error)", at: place)
        }
    }

    /// Returns the raw number of a category's case. An unknown case is -1, which no case uses, and the ordinal distinguishes such cases.
    /// The metadata contain its name (``Metadata/receivedCase``).
    private func category(
        _ text: UnsafeRawBufferPointer, of type: SampleType, ordinal: inout UInt32, at place: Place
    ) throws(Refusal) -> Numeral {
        let values = type.categoryValues
        guard !text.isEmpty else {
            // Types without cases have no value, such as a mindful session.
            guard values?.isOfNone ?? true else { throw Refusal("the record has no value", at: place) }
            return Numeral(coefficient: 0)
        }
        let name = String(decoding: text, as: UTF8.self)
        if let value = values?.value(of: name) ?? Int(name).flatMap({ $0 >= 0 && $0 <= Int32.max ? $0 : nil }) {
            return Numeral(coefficient: Int64(value))
        }
        if values == nil, name == Self.notApplicable { return Numeral(coefficient: 0) }
        ordinal = UInt32(truncatingIfNeeded: StableHash.hash(text)) & 0x7FFF_FFFF
        return Numeral(coefficient: -1)
    }

    /// The maximum length of a case's name in metadata, in bytes.
    private static let maximumCaseLength = 256

    private static let notApplicable = "HKCategoryValueNotApplicable"

    @inline(__always) private func unit(_ texts: Texts, at place: Place) throws(Refusal) -> Unit {
        let key = texts[ExportColumn.unit...ExportColumn.unit]
        let hash = ByteMemo<Unit>.hash(key)
        if let unit = units.find(key, hash) { return unit }
        guard !texts[ExportColumn.unit].isEmpty else { throw Refusal("the record has no unit", at: place) }
        guard texts[ExportColumn.unit].count <= 256 else { throw Refusal("the unit is too long", at: place) }
        do throws(UnitError) {
            let unit = try Unit(healthKit: String(decoding: texts[ExportColumn.unit], as: UTF8.self))
            units.insert(unit, for: key, hash)
            return unit
        } catch {
            throw Refusal("\(error)", at: place)
        }
    }
}

// Correlations and their records.
extension AppleHealthInterpreter {
    /// The maximum number of records in a correlation. Food has some forty nutrients.
    private static let maximumMembers = 1000

    private static let correlationName: StaticString = "Correlation"

    /// Whether a row has the columns of a record. Those of a correlation do too.
    @inline(__always) private static func hasColumns(_ element: UnsafeRawBufferPointer) -> Bool {
        isEqual(element, "Record") || isEqual(element, correlationName)
    }

    private static func isCorrelation(_ identifier: UnsafeRawBufferPointer) -> Bool {
        identifier.starts(with: "HKCorrelationType".utf8)
    }

    /// Keeps the identity of a record in a correlation. It is the same as outside of the correlation.
    private func remember(_ reading: Reading, _ start: Instant, _ end: Instant) {
        guard members.count <= Self.maximumMembers else { return }
        let series = reading.origin.seriesKey
        members.append(
            reading.record.map { SampleIdentity(series: series, start: start.microseconds, record: $0) }
                ?? SampleIdentity(
                    series: series, start: start.microseconds, end: end.microseconds, numeral: reading.numeral,
                    unit: reading.unit,
                    ordinal: reading.ordinal))
    }

    /// Returns the body of a correlation whose records were read. Its ordinal is a hash of the members, which distinguishes correlations
    /// of the same time.
    private func correlation(ordinal: inout UInt32, at place: Place) throws(Refusal) -> SampleBody {
        guard members.count <= Self.maximumMembers else {
            throw Refusal("the correlation has more than \(Self.maximumMembers) records", at: place)
        }
        guard let body = try? SampleBody(encoding: Correlation(objects: members)) else {
            throw Refusal("the correlation cannot be stored", at: place)
        }
        ordinal = UInt32(truncatingIfNeeded: StableHash.hash(body.bytes)) & 0x7FFF_FFFF
        return body
    }
}

// Sources, devices and metadata.
extension AppleHealthInterpreter {
    /// Returns the origin of an element that is read as a whole.
    func origin(_ tree: ExportTree, _ type: SampleType) -> Origin {
        let name = Array((tree["sourceName"] ?? "").utf8)
        let version = ExportText.cleaned((tree["sourceVersion"] ?? "").utf8)
        return registry.origin(
            type: type,
            source: SourceRevision(
                id: SourceRevision.appleHealthPrefix + ExportText.cleaned(name), name: ExportText.shown(name),
                version: version.isEmpty ? nil : version),
            device: Array((tree["device"] ?? "").utf8).withUnsafeBytes { Device(healthKitDescription: $0) })
    }

    @inline(__always) func origin(_ texts: Texts, _ type: SampleType) -> Origin {
        let source = number(texts[ExportColumn.sourceName...ExportColumn.sourceVersion], sources)
        let description = UnsafeRawBufferPointer(rebasing: Device.withoutAddress(texts[ExportColumn.device]))
        let device = withUnsafePointer(to: description) { number(Texts(start: $0, count: 1)[...], devices) }
        let slot = origins + Self.slot(type, source, device)
        if slot.pointee?.type == type, slot.pointee?.source == source, slot.pointee?.device == device,
            let origin = slot.pointee?.origin
        {
            return origin
        }
        let name = texts[ExportColumn.sourceName]
        let version = ExportText.cleaned(texts[ExportColumn.sourceVersion])
        let origin = registry.origin(
            type: type,
            source: SourceRevision(
                id: SourceRevision.appleHealthPrefix + ExportText.cleaned(name), name: ExportText.shown(name),
                version: version.isEmpty ? nil : version),
            device: Device(healthKitDescription: texts[ExportColumn.device]))
        slot.pointee = OriginEntry(type: type, source: source, device: device, origin: origin)
        return origin
    }

    private static func slot(_ type: SampleType, _ source: UInt64, _ device: UInt64) -> Int {
        let mixed = (UInt64(type.index) << 40 ^ source << 20 ^ device) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 32) & (originCapacity - 1)
    }

    @inline(__always) private func number(_ key: Slice<Texts>, _ memo: ByteMemo<UInt64>) -> UInt64 {
        let hash = ByteMemo<UInt64>.hash(key)
        if let number = memo.find(key, hash) { return number }
        lastNumber &+= 1
        memo.insert(lastNumber, for: key, hash)
        return lastNumber
    }

    /// Returns the metadata of a record, and the record id if the metadata contains one.
    private func read(metadata texts: Texts) -> (Metadata?, RecordIdentifier?) {
        let keys = stride(from: ExportColumn.metadata, to: texts.count - 1, by: 2)
        var identifier: UnsafeRawBufferPointer?
        var version: UnsafeRawBufferPointer?
        for index in keys {
            if Self.isEqual(texts[index], Self.syncIdentifier) { identifier = texts[index + 1] }
            if Self.isEqual(texts[index], Self.syncVersion) { version = texts[index + 1] }
        }
        guard let identifier, let version, !identifier.isEmpty, let number = Int64(String(decoding: version, as: UTF8.self))
        else {
            return (metadata(texts[ExportColumn.beats...]), nil)
        }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(texts[ExportColumn.beats])
        for index in keys {
            if Self.isEqual(texts[index], Self.syncIdentifier) || Self.isEqual(texts[index], Self.syncVersion) { continue }
            scratch.append(texts[index])
            scratch.append(texts[index + 1])
        }
        let record = RecordIdentifier(id: String(decoding: identifier, as: UTF8.self), version: number)
        return (scratch.withUnsafeBufferPointer { metadata($0[...]) }, record)
    }

    /// Returns metadata from a cell with the number of beats, which may be empty, followed by alternating keys and values.
    private func metadata(_ texts: Slice<Texts>) -> Metadata? {
        guard texts.count > 1 || !texts[texts.startIndex].isEmpty else { return nil }
        let hash = ByteMemo<Metadata>.hash(texts)
        if let known = metadata.find(texts, hash) { return known }
        var entries: [(String, MetadataValue)] = []
        for index in stride(from: texts.startIndex + 1, to: texts.endIndex - 1, by: 2) {
            let key = String(decoding: texts[index], as: UTF8.self)
            entries.append(Metadata.entry(healthKitKey: key, text: String(decoding: texts[index + 1], as: UTF8.self)))
        }
        if let beats = try? Numeral(String(decoding: texts[texts.startIndex], as: UTF8.self)) {
            entries.append(("instantaneousBeats", .number(beats)))
        }
        let made = Metadata(entries)
        metadata.insert(made, for: texts, hash)
        return made
    }

    @inline(__always) private static func isEqual(_ text: UnsafeRawBufferPointer, _ other: StaticString) -> Bool {
        guard text.count == other.utf8CodeUnitCount, let start = text.baseAddress else { return false }
        return memcmp(start, other.utf8Start, text.count) == 0
    }
}
