import HealthModel
import Pipeline
import PipelineTesting
import Profiles
import Testing

@testable import BlueZSource
@testable import Ingestion

/// The report on an unsupported device: what it contains, and what it does not.
@Suite struct DeviceRequestTests {
    private static let address = BluetoothAddress("C0:01:02:03:04:09")

    private func survey() -> DeviceSurvey {
        var survey = DeviceSurvey()
        survey.name = "Annas Scale"
        survey.services = [BluetoothUUID(0xFFE0)]
        survey.characteristics = [
            DeviceSurvey.Characteristic(service: BluetoothUUID(0xFFE0), uuid: BluetoothUUID(0xFFE4), flags: ["notify"])
        ]
        for number in 0..<4 as Range<UInt8> {
            // A mark, the address reversed, a number that differs.
            survey.frames.append(
                DeviceSurvey.Frame(
                    after: .milliseconds(100 * Int(number)), channel: "advert:manufacturer:0157",
                    bytes: [0xAA, 0x09, 0x04, 0x03, 0x02, 0x01, 0xC0, number]))
        }
        survey.frames.append(
            DeviceSurvey.Frame(
                after: .seconds(61), channel: "gatt:FFE4",
                bytes: [0xC0, 0x01, 0x02, 0x03, 0x04, 0x09] + Array("Annas Scale".utf8) + [0x55]))
        return survey
    }

    @Test func reportIsAnonymous() throws {
        let request = DeviceRequest(survey(), of: try #require(Self.address), keepsName: false)
        let text = request.lines.joined()
        for part in ["C0:01", "Annas", "C00102030409", "0904030201C0", "416E6E6173"] { #expect(!text.contains(part), "\(part)") }
        #expect(text.contains("AA00000000000000"), "a frame keeps its length")
        #expect(text.contains("FFE0/FFE4 notify"))
        #expect(text.contains(DeviceRequest.sentence))
        // The name is in the bytes of a frame as well.
        #expect(text.contains(String(repeating: "78", count: 11) + "55"))
    }

    @Test func aNameMayStay() throws {
        let request = DeviceRequest(survey(), of: try #require(Self.address), keepsName: true)
        #expect(request.lines.joined().contains(#""name":"Annas Scale""#))
        #expect(!request.lines.joined().contains("0904030201C0"))
    }

    /// The way on: what reads a capture reads the report, and drafts a profile of it.
    @Test func aProfileIsDraftedOfIt() throws {
        let folder = try TemporaryFolder()
        let request = DeviceRequest(survey(), of: try #require(Self.address), keepsName: false)
        try folder.write(Array(request.lines.joined().utf8), to: "request.ndjson")
        let frames = try CapturedFrames(path: folder.file("request.ndjson"), device: nil)
        #expect(frames.name == nil)
        #expect(frames.channels["advert:manufacturer:0157"]?.count == 4)
        let draft = FrameSuggestion(id: "new-scale", name: frames.name, channels: frames.channels).json5
        #expect(draft.contains("advert:manufacturer:0157") && draft.contains("AA"))
        // The report is not read as readings, because no profile reads it.
        let lines = request.lines
        #expect(lines.count == 7)
    }
}
