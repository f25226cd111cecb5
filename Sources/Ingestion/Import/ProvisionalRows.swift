import HealthModel
import Pipeline
import SampleStore

/// Last rows of tables that end without a line break: what they say is held, until the same row arrives longer or with a line break.
///
/// A table does not say where it ends. An upload that breaks within the last number leaves 69.2 where 69.25 was measured, and a day's 2,450 steps
/// as 245.
struct ProvisionalRows {
    private let held: [(number: Int64, text: [UInt8])]

    /// - Parameter profile: the one that the file is read by; a row of another form is another row.
    init(heldOf profile: String, in store: SampleStore) throws(StoreError) {
        held = try store.provisionalRows(of: profile).map { ($0.number, Array($0.text.utf8)) }
    }

    /// Whether none is held.
    var isEmpty: Bool { held.isEmpty }

    /// The numbers of the held rows that are beginnings of this one.
    func longer(_ frame: RawFrame) -> [Int64] {
        guard case .row(let row) = frame.payload else { return [] }
        return held.filter { Self.isBeginning($0.text, of: row, orWhole: !frame.isProvisional) }.map(\.number)
    }

    /// Whether a row's text, as ``FrameText`` writes it, begins with another's.
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

    /// Adds the readings of a provisional row to the output as held, whatever the gate thinks of them.
    ///
    /// They are settled by themselves: a cut time must not decide in which pass of an hour the rows before it are.
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
