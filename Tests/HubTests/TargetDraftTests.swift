import Pipeline
import Testing

@testable import Hub

/// Settings of a command line, as they are written to the configuration.
@Suite struct TargetDraftTests {
    @Test(arguments: [
        (ExporterKind.mqtt, ["url=mqtt://h?a=b"], #"{ kind: "mqtt", url: "mqtt://h?a=b" }"#),
        (
            .mqtt, ["staleAfter.heartRate=300", "url=x", "staleAfter.Blood Pressure=60"],
            #"{ kind: "mqtt", staleAfter: { heartRate: 300, "Blood Pressure": 60 }, url: "x" }"#
        ),
        (.postgresql, ["port=5433", "hypertable=true"], #"{ kind: "postgresql", port: 5433, hypertable: true }"#),
        (.postgresql, ["password.file=/p"], #"{ kind: "postgresql", password: { file: "/p" } }"#),
        (.influxdb, ["token.environment=T"], #"{ kind: "influxdb", token: { environment: "T" } }"#),
        (.files, ["types=weight,steps", "types=heartRate"], #"{ kind: "files", types: ["weight", "steps", "heartRate"] }"#),
        (
            .command, ["command=/bin/a", "command=b, \"c\"\\"],
            #"{ kind: "command", command: ["/bin/a", "b, \"c\"\\"] }"#
        ),
        (
            .files, ["where=value > 1", "units.bodyMass=[lb_av]"],
            #"{ kind: "files", where: "value > 1", units: { bodyMass: "[lb_av]" } }"#
        ),
        (.files, ["folder=/ä\n"], #"{ kind: "files", folder: "/ä\u000a" }"#),
    ])
    func writesSettings(kind: ExporterKind, settings: [String], object: String) throws {
        #expect(try TargetDraft(kind: kind, settings: settings).object == object)
    }

    @Test(arguments: [
        (ExporterKind.mqtt, ["url"], "url", "expected KEY=VALUE"),
        (.mqtt, ["host=a"], "host", "unknown key for mqtt, expected one of url, user"),
        (.mqtt, ["kind=files"], "kind", "unknown key"),
        (.mqtt, ["password=hunter2"], "password", "not part of a command line"),
        (.mqtt, ["password.value=hunter2"], "password", "not part of a command line"),
        (.mqtt, ["password=-", "password=-"], "password", "twice"),
        (.mqtt, ["url=a", "url=b"], "url", "twice"),
        (.mqtt, ["staleAfter=3"], "staleAfter", "staleAfter.NAME=VALUE"),
        (.mqtt, ["staleAfter.heartRate=soon"], "staleAfter.heartRate", "whole number"),
        (.mqtt, ["url.file=a"], "url.file", "has no parts"),
        (.postgresql, ["hypertable=yes"], "hypertable", "true or false"),
        (.files, ["types="], "types", "expected a value"),
    ])
    func refusesInvalidSettings(kind: ExporterKind, settings: [String], key: String, words: String) {
        #expect {
            try TargetDraft(kind: kind, settings: settings)
        } throws: { error in
            let fault = error as? SettingsFault
            return fault?.key == key && fault?.words.contains(words) == true && fault?.words.contains("hunter2") == false
        }
    }

    /// A value of each key's form is written, and read with that form.
    @Test func everyKeyRoundTrips() throws {
        for kind in ExporterKind.allCases {
            for setting in TargetDraft.settings(of: kind) {
                let text =
                    switch setting.form {
                    case .number: "\(setting.key)=7"
                    case .boolean: "\(setting.key)=true"
                    case .texts, .numbers: "\(setting.key).a=7"
                    case .secret: "\(setting.key).file=/p"
                    case .text, .list, .arguments: "\(setting.key)=a"
                    }
                #expect(throws: Never.self) { try TargetDraft(kind: kind, settings: [text]) }
            }
        }
    }
}
