import HealthModel

/// A table of readings for people, such as a doctor: a row for each reading, with local times and the numbers and units as received.
///
/// The columns are those of the generic table that `vitalgate import` reads back.
package struct ReadingTable {
    private static let columns = ["time", "type", "value", "unit", "end", "source", "device"]
    private let zone: TimeZoneRules
    private let writer = CSVWriter(lineEnding: .carriageReturnLineFeed, safe: true)
    private var text = ZonedTimeText()

    /// - Parameter zone: the zone of the times. Each time has its offset.
    package init(zone: TimeZoneRules) { self.zone = zone }

    package func begin(_ bytes: inout [UInt8]) { writer.append(row: Self.columns, to: &bytes) }

    package mutating func append(_ sample: Sample, to bytes: inout [UInt8]) {
        let origin = sample.origin
        writer.append(
            row: [
                local(sample.start), origin.type.id, sample.numeral.text, sample.unit.code,
                sample.end == sample.start ? "" : local(sample.end),
                // A table without a source has the same id when it is read back.
                origin.source.id == SourceRevision.genericTable ? "" : origin.source.displayName, origin.device?.name ?? "",
            ], to: &bytes)
    }

    private mutating func local(_ instant: Instant) -> String {
        var bytes: [UInt8] = []
        text.append(instant, zone.offset(at: instant), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
