import FoundationEssentials
import HealthModel
import Pipeline

/// A request of a hub to a collector. The collector carries it out in the database, as an exporter of the hub would, and sends a
/// ``FleetReply``.
///
/// The hub's store is not part of it. It is in the subject, so that the broker can enforce that a hub uses only its own.
package struct FleetRequest: Sendable {
    /// The functions of ``Exporter`` that a hub can call.
    package indirect enum Task: Sendable {
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
        /// ``SourceOrderingExporter/set(_:)``
        case order([SourceOrder])
        /// Asks for the number of the hub's next request of the kind ``once(_:_:)``.
        case number
        /// A report, an erasure, or orders, which is carried out only if the number is the next one. So a broker cannot repeat a request that it
        /// has recorded. Deliveries and claims have the number of their mark.
        case once(Int64, Task)
    }

    /// The name of the target in the hub's configuration.
    package var target: String
    /// The UUID of the person who owns the hub.
    package var me: String
    /// The function to call.
    package var task: Task

    /// The length of its changes in bytes after decompression, if it was received. They need several times as much memory.
    package private(set) var length = 0

    /// How long a hub waits for the reply. After that it asks again, so a collector does not carry it out any more.
    package static let timeout = Duration.seconds(60)

    package init(target: String, me: String, task: Task) { (self.target, self.me, self.task) = (target, me, task) }

    static let version: UInt8 = 1
    static let (find, claim, check, deliver, contents, digests) = (UInt8(0), UInt8(1), UInt8(2), UInt8(3), UInt8(4), UInt8(5))
    /// The number of days and types in a request for their contents.
    package static let maximumPlaces = 500
    static let (report, count, erase, order) = (UInt8(6), UInt8(7), UInt8(8), UInt8(9))
    static let (number, once) = (UInt8(10), UInt8(11))
    /// The largest number of orders of sources. A hub sends the most specific ones.
    package static let maximumOrders = 1000

    /// The longest name of a target, in bytes.
    static let maximumNameLength = 200

    package var bytes: [UInt8] {
        var writer = FleetByteWriter()
        writer.write(UInt64(Self.version))
        writer.write(target)
        writer.write(me)
        Self.write(task, to: &writer)
        return writer.bytes
    }

    private static func write(_ task: Task, to writer: inout FleetByteWriter) {
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
        case .order(let orders):
            writer.write(UInt64(Self.order))
            writer.write(UInt64(min(orders.count, Self.maximumOrders)))
            for order in orders.prefix(Self.maximumOrders) {
                writer.write(order.person)
                writer.write(order.type?.id)
                writer.write(UInt64(order.names.count))
                for name in order.names { writer.write(name) }
            }
        case .number: writer.write(UInt64(Self.number))
        case .once(let number, let task):
            writer.write(UInt64(Self.once))
            writer.write(UInt64(bitPattern: number))
            write(task, to: &writer)
        }
    }

    /// Reads a request that a hub sent.
    package init(bytes: [UInt8]) throws(BlockFault) {
        var reader = FleetByteReader(bytes[...])
        guard try reader.number() == UInt64(Self.version) else {
            throw .invalid("its format is of another version: update the hub and the collector")
        }
        (target, me) = (try reader.text(), try reader.text())
        guard (1...Self.maximumNameLength).contains(target.utf8.count), me.utf8.count <= Self.maximumNameLength else {
            throw .invalid("a name")
        }
        (task, length) = try Self.task(&reader)
        guard reader.isAtEnd else { throw .invalid("there are bytes after it") }
    }

    /// Reads a task.
    ///
    /// - Parameter isInner: Whether it is the task of a numbered one.
    /// - Returns: It, and the length of its changes in bytes.
    private static func task(_ reader: inout FleetByteReader, isInner: Bool = false) throws(BlockFault) -> (Task, length: Int) {
        switch UInt8(try reader.number(below: 256)) {
        case Self.find: return (.find, 0)
        case Self.claim: return (.claim(try Self.mark(try reader.bytes())), 0)
        case Self.check: return (.check, 0)
        case Self.deliver:
            let json = try reader.bytes()
            let rewrites = try reader.number(below: 2) == 1
            let block = try BlockReader.block(try reader.bytes())
            var batch = ExportBatch(changes: block.changes, rewrites: rewrites)
            batch.mark = json.isEmpty ? nil : try Self.mark(json)
            return (.deliver(batch), block.length)
        case Self.contents:
            var places: [SampleDigest.Place] = []
            let count = try reader.number(below: Self.maximumPlaces + 1)
            for _ in 0..<count { places.append(try Self.place(&reader)) }
            let text = try reader.optionalText()
            let after = text.flatMap { SampleIdentity($0) }
            guard (text == nil) == (after == nil) else { throw .invalid("a UUID") }
            return (.contents(of: places, after: after), 0)
        case Self.digests:
            let day = try reader.signed()
            let type = try reader.optionalText()
            guard let type else { return (.digests(after: nil), 0) }
            return (.digests(after: try Self.place(day, type)), 0)
        case Self.report: return (.report(try Self.report(try reader.bytes())), 0)
        case Self.count:
            let (zone, type, day) = (try reader.text(), try reader.text(), try reader.text())
            guard [zone, type, day].allSatisfy({ $0.utf8.count <= Self.maximumNameLength && !$0.utf8.contains(0) }) else {
                throw .invalid("a name")
            }
            return (.count(zone: zone, after: type.isEmpty ? nil : DayCount(type: type, day: day, count: 0)), 0)
        case Self.erase:
            let person = try reader.text()
            guard (1...Self.maximumNameLength).contains(person.utf8.count), !person.utf8.contains(0) else {
                throw .invalid("a name")
            }
            return (.erase(person), 0)
        case Self.order:
            var orders: [SourceOrder] = []
            let count = try reader.number(below: Self.maximumOrders + 1)
            for _ in 0..<count { if let order = try Self.order(&reader) { orders.append(order) } }
            return (.order(orders), 0)
        case Self.number: return (.number, 0)
        case Self.once where !isInner:
            let number = Int64(clamping: try reader.number())
            let (inner, _) = try task(&reader, isInner: true)
            switch inner {
            case .report, .erase, .order: return (.once(number, inner), 0)
            default: throw .invalid("a task that needs no number")
            }
        default: throw .invalid("a task of a newer version: update the collector")
        }
    }

    private static func place(_ reader: inout FleetByteReader) throws(BlockFault) -> SampleDigest.Place {
        let day = try reader.signed()
        return try place(day, try reader.text())
    }

    private static func place(_ day: Int64, _ type: String) throws(BlockFault) -> SampleDigest.Place {
        // PostgreSQL's dates, in days.
        guard (-2_000_000...2_000_000).contains(day), type.utf8.count <= maximumNameLength, !type.utf8.contains(0) else {
            throw .invalid("a day")
        }
        return SampleDigest.Place(day: Int(day), type: type)
    }

    /// Reads an order of sources.
    ///
    /// - Returns: `nil` if it is for a type that this version does not know.
    private static func order(_ reader: inout FleetByteReader) throws(BlockFault) -> SourceOrder? {
        let (person, name) = (try reader.optionalText(), try reader.optionalText())
        var names: [String] = []
        let count = try reader.number(below: SourceOrder.maximumNames + 1)
        for _ in 0..<count { names.append(try reader.text()) }
        guard [person, name].allSatisfy({ $0.map { $0.utf8.count <= maximumNameLength && !$0.utf8.contains(0) } ?? true }) else {
            throw .invalid("a name")
        }
        let type = name.flatMap { SampleType($0) }
        let order = SourceOrder(person: person, type: type, names: names)
        guard order.isValid else { throw .invalid("a name") }
        return name != nil && type == nil ? nil : order
    }

    private static func report(_ json: ArraySlice<UInt8>) throws(BlockFault) -> HubReport {
        guard json.count <= HubReport.maximumLength, let report = try? JSONDecoder().decode(HubReport.self, from: Data(json)),
            report.isValid
        else { throw .invalid("a report") }
        return report
    }

    private static func mark(_ json: ArraySlice<UInt8>) throws(BlockFault) -> TargetMark {
        guard json.count <= 4096, let mark = TargetMark(json: json) else { throw .invalid("a mark") }
        return mark
    }
}
