import Formats
import Glibc
import HealthModel
import Pipeline

/// Runs a command for each batch of changes, with the JSON lines of `changes` as its standard input. Exit status 0 acknowledges them.
///
/// A batch that was not acknowledged is passed again. Each line has its sample's UUID and the change's anchor, so the command can ignore
/// repetitions.
package final class CommandExporter: Exporter {
    package struct Settings: ExporterSettings {
        /// `command`.
        package static let settings = Key.settings
        package var command: [String]

        /// Creates settings from a program and its arguments.
        package init(command: [String]) { self.command = command }

        private enum Key: String, ExporterSettingKey {
            case command

            var form: ExporterSetting.Form {
                switch self {
                case .command: .arguments
                }
            }
        }

        /// - Throws: ``SettingsFault`` if there is no program.
        package init(from decoder: any Decoder) throws {
            command = try decoder.container(keyedBy: Key.self).decodeIfPresent([String].self, forKey: .command) ?? []
            guard command.first?.isEmpty == false, !command.contains(where: { $0.utf8.contains(0) }) else {
                throw SettingsFault("command", "expected a list: a program and its arguments")
            }
        }
    }

    /// The maximum number of changes, about a megabyte.
    package let batchLimit = 1000
    /// The lines support all kinds.
    package let kinds = Set(SampleKind.allCases)
    /// True because a command may keep only the last change.
    package let isOrdered = true
    /// The time that a command has to acknowledge its input.
    package static let defaultTimeout = Duration.seconds(60)
    /// The time that the command has to acknowledge a batch.
    var timeout = CommandExporter.defaultTimeout
    private let settings: Settings
    private let context: ExportContext
    private let line: ChangeLine

    package init(_ settings: Settings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        line = ChangeLine(me: context.me)
    }

    private var program: String { settings.command.first ?? "" }

    /// The program. Its arguments may contain secrets.
    package var address: String { program }

    /// Checks that the program is there. It is not run, because it could not roll back what it does.
    package func check() throws(DeliveryError) -> [Finding] {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin").split(separator: ":")
        let paths = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
        guard paths.contains(where: { access($0, X_OK) == 0 }) else {
            throw DeliveryError(.unfit, "\(program): the program does not exist or is not executable")
        }
        return [Finding(.good, program, "can be run")]
    }

    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        guard !batch.changes.isEmpty else { return 0 }
        var bytes: [UInt8] = []
        for (index, change) in batch.changes.enumerated() {
            let anchor = batch.anchors.isEmpty ? "" : batch.anchors[index]
            line.append(change, anchor: anchor, in: context.wantedQuantity, to: &bytes)
        }
        let failure: String?
        do throws(CommandFailure) {
            failure = try StartedCommand(settings.command, input: bytes).wait(within: timeout)
        } catch {
            failure = error.reason
        }
        if let failure { throw DeliveryError(.unreachable, failure) }
        return 0
    }
}
