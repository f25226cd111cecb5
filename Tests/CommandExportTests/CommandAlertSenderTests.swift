import Pipeline
import PipelineTesting
import Testing

@testable import CommandExport

/// A command gets each message about an alert as one JSON object.
@Suite struct CommandAlertSenderTests {
    private let folder: TemporaryFolder
    private let message = AlertMessage(id: "a-1", event: .began, json: Array(#"{"event":"began","text":"$(touch x) ' \""}"#.utf8))

    init() throws { folder = try TemporaryFolder() }

    private func sender(_ script: String, timeout: Duration = .seconds(60)) -> CommandAlertSender {
        CommandAlertSender(.init(command: ["/bin/sh", "-c", script, folder.path]), timeout: timeout)
    }

    @Test func aCommandReadsTheObject() throws {
        try sender("cat > \"$0/heard\"; cat \"$0/heard\"; cat \"$0/heard\" >&2").send(message)
        #expect(try folder.read("heard") == message.json + [UInt8(ascii: "\n")])
    }

    @Test func aFailureIsReportedWithoutTheMessage() {
        for (script, reason) in [
            ("exit 3", "the command ended with status 3"), ("kill -9 $$", "the command was ended by signal 9"),
        ] {
            #expect { try sender(script).send(message) } throws: { error in
                (error as? DeliveryError) == DeliveryError(.unreachable, reason)
            }
        }
        #expect { try sender("sleep 600", timeout: .milliseconds(50)).send(message) } throws: { error in
            (error as? DeliveryError)?.kind == .unreachable
        }
        #expect { try CommandAlertSender(.init(command: ["/nowhere/at/all"])).send(message) } throws: { error in
            (error as? DeliveryError)?.reason == "/nowhere/at/all: No such file or directory"
        }
    }
}
