import Pipeline

/// Runs a command for each message about an alert, with the JSON object and a newline as its standard input. Exit status 0 acknowledges
/// it. The command's output is discarded, because it may repeat the message.
package final class CommandAlertSender: AlertSender {
    private let settings: CommandExporter.Settings
    /// The time that the command has to acknowledge a message.
    private let timeout: Duration

    package init(_ settings: CommandExporter.Settings, timeout: Duration = CommandExporter.defaultTimeout) {
        (self.settings, self.timeout) = (settings, timeout)
    }

    package func send(_ message: AlertMessage) throws(DeliveryError) {
        let failure: String?
        do throws(CommandFailure) {
            let input = message.json + [UInt8(ascii: "\n")]
            failure = try StartedCommand(settings.command, input: input, isSilent: true).wait(within: timeout)
        } catch {
            failure = error.reason
        }
        if let failure { throw DeliveryError(.unreachable, failure) }
    }
}
