import CommandLineKit
import Formats
import Pipeline

/// Writes findings in the requested format.
struct FindingReport {
    let context: CommandContext

    func write(_ findings: [Finding]) throws {
        switch context.format {
        case .ndjson: for finding in findings { try context.streams.output.write(object(finding).line) }
        case .csv:
            try TableOutput(context: context).write(
                header: ["subject", "state", "finding", "command"],
                rows: findings.map { [$0.component, $0.weight.rawValue, $0.text, $0.command ?? ""] })
        case .table: for finding in findings { try context.streams.output.write(text(finding)) }
        }
    }

    private func object(_ finding: Finding) -> JSONObject {
        var object = JSONObject()
        object.set("subject", finding.component)
        object.set("state", finding.weight.rawValue)
        object.set("finding", finding.text)
        object.set("command", finding.command)
        return object
    }

    /// A finding with its command on a separate line, so that it is not truncated and can be copied.
    private func text(_ finding: Finding) -> String {
        let state = finding.weight.rawValue
        let line = state + String(repeating: " ", count: 9 - state.count) + "\(finding.component): \(finding.text)\n"
        return line + (finding.command.map { "         → \($0)\n" } ?? "")
    }
}
