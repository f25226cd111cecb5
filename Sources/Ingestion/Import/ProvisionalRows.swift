import HealthModel
import Pipeline
import SampleStore

/// Last rows of tables without a final line break. Their readings are held until the same row arrives longer or with a line
/// break.
///
/// A table does not mark its end. If an upload breaks off within the last number, it contains 69.2 instead of 69.25, or 245
/// instead of 2,450 steps.
struct ProvisionalRows {
    private let quarantined: [(number: Int64, text: [UInt8])]

    /// - Parameter profile: the profile that reads the file. The same text in another format is another row. -
    ///   person: the person of the file. Only a person's own file completes a row.
    init(profile: String, person: String, in store: SampleStore) throws(StoreError) {
        quarantined = try store.quarantine.provisionalRows(of: profile, person: person).map { ($0.number, Array($0.text.utf8)) }
    }

    /// Whether there are no held rows.
    var isEmpty: Bool { quarantined.isEmpty }

    /// Returns the numbers of the held rows that this row begins with.
    func longer(_ frame: RawFrame) -> [Int64] {
        guard case .row(let row) = frame.payload else { return [] }
        return quarantined.filter { Self.isBeginning($0.text, of: row, orWhole: !frame.isProvisional) }.map(\.number)
    }

    /// Whether a row's text, as written by ``FrameText``, begins with another text.
    private static func isBeginning(_ text: [UInt8], of row: TextRow, orWhole: Bool) -> Bool {
        var length = 0
        for cell in row.cells {
            if length > 0 {
                if length == text.count { return true }
                guard text[length] == UInt8(ascii: ",") else { return false }
                length += 1
            }
            let part = text[length...].prefix(cell.count)
            guard part.elementsEqual(cell.prefix(part.count)) else { return false }
            length += part.count
            if length == text.count, part.count < cell.count { return true }
        }
        return length == text.count && orWhole
    }

    /// Adds the readings of a provisional row to the output as held, whatever the gate's verdict.
    ///
    /// They are normalised separately because a truncated time must not affect which pass of a repeated hour the rows before it
    /// are in.
    static func hold(
        _ readings: [Reading], of frame: RawFrame, zone: TimeZoneRules, into output: inout Normaliser.Output
    ) {
        do throws(Refusal) {
            let text = FrameText(frame)
            for var gated in try ReadingPath.samples(of: readings, zone: zone, received: frame.received) {
                gated.rule = .provisional
                gated.frame = text
                output.samples.append(gated)
            }
        } catch {
            output.refusals.append(error)
        }
    }
}
