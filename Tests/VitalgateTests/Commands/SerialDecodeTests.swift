import FoundationEssentials
import Glibc
import Testing

/// `decode serial:…`: the content of a line, through the program itself.
@Suite struct SerialDecodeTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static let vectors = "Tests/ProfilesTests/Vectors"
    static let files = [
        "serial_and_scale", "serial_cms50_5byte", "serial_cms50_9byte", "serial_freestyle_optium", "serial_nonin_ascii",
        "serial_nonin_f2_f7", "serial_onetouch_ultra2",
    ]

    @Test(arguments: files) func vectorsDecode(file: String) throws {
        guard
            case .list(let vectors) = try JSON(
                String(decoding: Repository.data("\(Self.vectors)/\(file).json"), as: UTF8.self))
        else {
            Issue.record("\(file) is a list")
            return
        }
        #expect(vectors.count >= 9)
        for vector in vectors {
            let hex = try #require(vector["hex"].text)
            let run = try folder.vitalgate("decode", "--strict", try #require(vector["characteristic"].text), hex)
            switch vector["expect"] {
            case .object(let fields):
                #expect(run.status == 0 && run.lines.count == 1, "\(hex): \(run.errors)")
                let found = try JSON(run.last)["fields"].object
                for (name, value) in fields { #expect(found[name] == value, "\(hex): \(name)") }
            case .list(let frames):
                #expect(run.status == 0 && run.lines.count == frames.count, "\(hex): \(run.errors)")
                for (line, frame) in zip(run.lines, frames) {
                    let found = try JSON(line)["fields"]
                    for (name, value) in frame.object { #expect(found[name]["value"] == value, "\(hex): \(name)") }
                }
                #expect(run.errors.contains("skipped"))
            default:
                #expect(run.status == 65 && run.output.isEmpty, "\(hex)")
                #expect(run.errors.hasPrefix("vitalgate: byte "), "\(hex): \(run.errors)")
            }
        }
    }

    @Test func decodesRecordedLine() throws {
        let whole = "SPO2=098 HR=072\r\n\r\nSPO2=0x8 HR=072\r\nSPO2=099 HR=073\r\nSPO2=09"
        let run = try folder.vitalgate("decode", "serial:NoninASCII", "--file", try folder.write("line.txt", whole))
        #expect(run.status == 65 && run.lines.count == 2)
        #expect(try run.lines.map { try JSON($0)["place"].text } == ["byte 0", "byte 36"])
        #expect(run.errors.contains("byte 25: spo2 does not have the required format"))
        #expect(run.errors.contains("byte 60: truncated: the frame is missing or cut off (7 bytes skipped)"))
        let good = try folder.vitalgate(
            "decode", "serial:NoninASCII", "--file", try folder.write("good.txt", String(whole.prefix(17))))
        #expect(good.status == 0 && good.errors.isEmpty && good.lines.count == 1)
        #expect(try folder.vitalgate("decode", "serial:NoninASCII", "--file", folder.path("none")).status == 66)
        #expect(try folder.vitalgate("decode", "serial:NoninASCII", "--file", try folder.write("empty", "")).status == 65)
    }

    /// A name without its number means all of a maker's kinds. A profile's id means its only channel.
    @Test func selectsProfileOfFamilyByFrame() throws {
        for (hex, profile) in [("86524F0061", "contec-cms50d"), ("01AA87AA97FED8F480", "contec-cms50d-plus")] {
            for name in ["serial:CMS50", "serial:cms50", "serial:" + profile] {
                let run = try folder.vitalgate("decode", name, hex)
                #expect(run.status == 0, "\(run.errors)")
                #expect(try JSON(run.last)["profile"].text == profile)
            }
        }
        #expect(try folder.vitalgate("decode", "serial:CMS", "86524F0061").status == 64)
        #expect(try folder.vitalgate("decode", "serial:CMS50", "86524F006").status == 64)
        #expect(try folder.vitalgate("decode", "serial:CMS50").status == 64)
        #expect(try folder.vitalgate("decode", "2A37", "16480C03", "--file", "x").status == 64)
    }

    /// Noise of any length is read through, and standard error stays short.
    @Test func noiseIsReadThrough() throws {
        var state: UInt64 = 5
        var bytes: [UInt8] = []
        for _ in 0..<200_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.append(UInt8(state >> 56) & 0x7F)
        }
        bytes += [0x86, 0x52, 0x4F, 0x00, 0x61]
        let path = folder.path("noise")
        try Data(bytes).write(to: URL(filePath: path))
        let run = try folder.vitalgate("decode", "serial:CMS50-5", "--file", path)
        #expect(run.status == 0 && run.lines.count == 1 && run.errors.split(separator: "\n").count < 8)
        #expect(try JSON(run.last)["place"].text == "byte 200000")
    }
}
