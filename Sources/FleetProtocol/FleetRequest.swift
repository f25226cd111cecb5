import FoundationEssentials
import HealthModel
import Pipeline

/// A request of a hub to a collector. The collector carries it out in the database, as an exporter of the hub would, and sends a
/// ``FleetReply``.
///
/// The hub's store is not part of it. It is in the subject, so that the broker can enforce that a hub uses only its own.
public struct FleetRequest: Sendable {
    /// The functions of ``Exporter`` that a hub can call.
    public enum Task: Sendable {
        /// ``Exporter/found()``
        case find
        /// ``Exporter/claim(_:)``
        case claim(TargetMark)
        /// ``Exporter/check()``
        case check
        /// ``Exporter/deliver(_:)``
        case deliver(ExportBatch)
        /// A part of ``DigestingExporter/contents(of:_:)``: the next UUIDs after this one, in order.
        case contents(of: [SampleDigest.Place], after: SampleIdentity?)
        /// A part of ``DigestingExporter/digests(_:)``: the next digests in the order of days and types.
        case digests(after: SampleDigest.Place?)
        /// Stores the hub's report. The reply has the next orders.
        case report(HubReport)
        /// A part of ``DayCountingExporter/dayCounts(zone:)``: the next counts in the order of types and days.
        case count(zone: String, after: DayCount?)
        /// ``ErasingExporter/erase(person:)``
        case erase(String)
    }

    /// The name of the target in the hub's configuration.
    public var target: String
    /// The UUID of the person who owns the hub.
    public var me: String
    /// The function to call.
    public var task: Task

    /// The length of its changes in bytes after decompression, if it was received. They need several times as much memory.
    public private(set) var length = 0

    /// How long a hub waits for the reply. After that it asks again, so a collector does not carry it out any more.
    public static let patience = Duration.seconds(60)

    /// A request.
    public init(target: String, me: String, task: Task) { (self.target, self.me, self.task) = (target, me, task) }

    /// The version of the format.
    static let version: UInt8 = 1
    static let (find, claim, check, deliver, contents, digests) = (UInt8(0), UInt8(1), UInt8(2), UInt8(3), UInt8(4), UInt8(5))
    /// The number of days and types in a request for their contents.
    public static let mostPlaces = 500
    static let (report, count, erase) = (UInt8(6), UInt8(7), UInt8(8))

    /// The longest name of a target, in bytes.
    static let longestName = 200

    /// The request as bytes.
    public var octets: [UInt8] {
        var writer = OctetWriter()
        writer.write(UInt64(Self.version))
        writer.write(target)
        writer.write(me)
        switch task {
        case .find: writer.write(UInt64(Self.find))
        case .claim(let mark):
            writer.write(UInt64(Self.claim))
            writer.write(mark.json)
        case .check: writer.write(UInt64(Self.check))
        case .deliver(let batch):
            writer.write(UInt64(Self.deliver))
            writer.write(batch.mark?.json ?? [])
            writer.write(UInt64(batch.rewrites ? 1 : 0))
            writer.write(BlockWriter.block(of: batch.changes))
        case .contents(let places, let after):
            writer.write(UInt64(Self.contents))
            writer.write(UInt64(places.count))
            for place in places {
                writer.write(signed: Int64(place.day))
                writer.write(place.type)
            }
            writer.write(after?.description)
        case .digests(let after):
            writer.write(UInt64(Self.digests))
            writer.write(signed: Int64(after?.day ?? 0))
            writer.write(after?.type)
        case .report(let report):
            writer.write(UInt64(Self.report))
            writer.write((try? JSONEncoder().encode(report)).map(Array.init) ?? [])
        case .count(let zone, let after):
            writer.write(UInt64(Self.count))
            for text in [zone, after?.type ?? "", after?.day ?? ""] { writer.write(text) }
        case .erase(let person):
            writer.write(UInt64(Self.erase))
            writer.write(person)
        }
        return writer.octets
    }

    /// Reads a request that a hub sent.
    public init(octets: [UInt8]) throws(BlockFault) {
        var reader = OctetReader(octets[...])
        guard try reader.number() == UInt64(Self.version) else {
            throw .invalid("its format is of another version: update the hub and the collector")
        }
        (target, me) = (try reader.text(), try reader.text())
        guard (1...Self.longestName).contains(target.utf8.count), me.utf8.count <= Self.longestName else {
            throw .invalid("a name")
        }
        switch UInt8(try reader.number(below: 256)) {
        case Self.find: task = .find
        case Self.claim: task = .claim(try Self.mark(try reader.octets()))
        case Self.check: task = .check
        case Self.deliver:
            let json = try reader.octets()
            let rewrites = try reader.number(below: 2) == 1
            let block = try BlockReader.block(try reader.octets())
            length = block.length
            var batch = ExportBatch(changes: block.changes, rewrites: rewrites)
            batch.mark = json.isEmpty ? nil : try Self.mark(json)
            task = .deliver(batch)
        case Self.contents:
            var places: [SampleDigest.Place] = []
            let count = try reader.number(below: Self.mostPlaces + 1)
            for _ in 0..<count { places.append(try Self.place(&reader)) }
            let text = try reader.optionalText()
            let after = text.flatMap { SampleIdentity($0) }
            guard (text == nil) == (after == nil) else { throw .invalid("a UUID") }
            task = .contents(of: places, after: after)
        case Self.digests:
            let day = try reader.signed()
            let type = try reader.optionalText()
            if let type { task = .digests(after: try Self.place(day, type)) } else { task = .digests(after: nil) }
        case Self.report: task = .report(try Self.report(try reader.octets()))
        case Self.count:
            let (zone, type, day) = (try reader.text(), try reader.text(), try reader.text())
            guard [zone, type, day].allSatisfy({ $0.utf8.count <= Self.longestName && !$0.utf8.contains(0) }) else {
                throw .invalid("a name")
            }
            task = .count(zone: zone, after: type.isEmpty ? nil : DayCount(type: type, day: day, count: 0))
        case Self.erase:
            let person = try reader.text()
            guard (1...Self.longestName).contains(person.utf8.count), !person.utf8.contains(0) else { throw .invalid("a name") }
            task = .erase(person)
        default: throw .invalid("a task of a newer version: update the collector")
        }
        guard reader.isAtEnd else { throw .invalid("there are bytes after it") }
    }

    private static func place(_ reader: inout OctetReader) throws(BlockFault) -> SampleDigest.Place {
        let day = try reader.signed()
        return try place(day, try reader.text())
    }

    private static func place(_ day: Int64, _ type: String) throws(BlockFault) -> SampleDigest.Place {
        // PostgreSQL's dates, in days.
        guard (-2_000_000...2_000_000).contains(day), type.utf8.count <= longestName, !type.utf8.contains(0) else {
            throw .invalid("a day")
        }
        return SampleDigest.Place(day: Int(day), type: type)
    }

    private static func report(_ json: ArraySlice<UInt8>) throws(BlockFault) -> HubReport {
        guard json.count <= HubReport.longest, let report = try? JSONDecoder().decode(HubReport.self, from: Data(json)),
            report.isValid
        else { throw .invalid("a report") }
        return report
    }

    private static func mark(_ json: ArraySlice<UInt8>) throws(BlockFault) -> TargetMark {
        guard json.count <= 4096, let mark = TargetMark(json: json) else { throw .invalid("a mark") }
        return mark
    }
}
