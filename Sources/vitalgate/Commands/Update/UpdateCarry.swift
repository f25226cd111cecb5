import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// Prints the samples that arrived after the copy of the store was made, as lines that every version imports.
struct UpdateCarry {
    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    func run() throws -> ExitCode {
        func number(_ option: String) throws -> Int64 {
            Int64(try context.invocation.integer(option, in: 0...Int.max) ?? 0)
        }
        let (last, quarantined, erasures) = (try number("--after"), try number("--quarantined"), try number("--erasures"))
        let store = try context.openForReading()
        let anchor: Anchor
        if last == 0 {
            anchor = .beginning
        } else if let found = try store.changes.anchor(at: last) {
            anchor = found
        } else {
            context.note("vitalgate: samples were removed permanently")
            return .dataError
        }
        let line = SampleLine(me: store.owner, withContent: true)
        var left: [String] = []
        func leave(_ reason: String) { if !left.contains(reason) { left.append(reason) } }
        func write(_ change: SampleChange) throws {
            guard case .added(let stored) = change else { return leave("samples were deleted or repaired") }
            // The copy has the reading as it was.
            guard try !store.samples.isMade(stored, fromReadingUpTo: last) else {
                return leave("earlier samples were corrected, repaired or assigned")
            }
            var sample = stored.sample
            sample.record = try store.samples.record(of: sample)
            var bytes: [UInt8] = []
            line.append(sample, ingest: nil, seq: nil, to: &bytes)
            try context.streams.output.write(bytes)
        }
        try store.changes.read(
            after: anchor, types: nil, pruned: { _, _ in leave("samples were removed permanently") },
            { change, _ in try write(change) }
        )
        let quarantinedNow = try store.quarantine.summary().reduce(0) { $0 + Int64($1.count) }
        if quarantinedNow > quarantined { leave("readings were quarantined") }
        if try store.erasureCount > erasures { leave("a person was erased: erase them again") }
        guard !left.isEmpty else { return .success }
        context.note("vitalgate: \(left.joined(separator: ", "))")
        return .dataError
    }
}
