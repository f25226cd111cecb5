import CommandLineKit
import Formats
import Pipeline

/// Writes findings in the requested format.
struct FindingReport {
    let context: CommandContext

    func write(_ findings: [Finding]) throws {
        if context.format == .table {
            for finding in findings { try context.streams.output.write(text(finding)) }
            return
        }
        try context.write(
            findings,
            [
                Field("subject") { $0.component }, Field("state") { $0.weight.rawValue }, Field("finding") { $0.text },
                Field("command") { $0.command },
            ])
    }

    /// A finding with its command on a separate line, so that it is not truncated and can be copied.
    private func text(_ finding: Finding) -> String {
        let state = finding.weight.rawValue
        let line = state + String(repeating: " ", count: 9 - state.count) + "\(finding.component): \(finding.text)\n"
        return line + (finding.command.map { "         → \($0)\n" } ?? "")
    }
}
