import Glibc
import Profiles

/// One program with all targets: `fuzz TARGET [libFuzzer's options] FOLDER…`. See `scripts/fuzz --help`.
@main struct Fuzz {
    /// The targets that the bytes of an input are passed to, by name.
    static let targets: [(name: String, body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32)] = [
        ("frames", { run(FrameTargets.frames, $0, $1) }),
        ("streams", { run(FrameTargets.streams, $0, $1) }),
        ("profiles", { run(ProfileTargets.profile, $0, $1) }),
        ("tables", { run(FileTargets.tables, $0, $1) }),
        ("exports", { run(FileTargets.exports, $0, $1) }),
        ("resources", { run(FileTargets.resources, $0, $1) }),
        ("routes", { run(FileTargets.routes, $0, $1) }),
        ("electrocardiograms", { run(FileTargets.electrocardiograms, $0, $1) }),
        ("pieces", { run(PieceTargets.pieces, $0, $1) }),
        ("texts", { run(TextTargets.texts, $0, $1) }),
        ("zones", { run(TextTargets.zones, $0, $1) }),
        ("adverts", { run(TextTargets.adverts, $0, $1) }),
        ("bus", { run(BusTargets.bus, $0, $1) }),
        ("meters", { run(MeterTargets.meters, $0, $1) }),
        ("dialogues", { run(DialogueTargets.dialogues, $0, $1) }),
        ("captures", { run(CaptureTargets.captures, $0, $1) }),
        ("traffic", { run(CaptureTargets.traffic, $0, $1) }),
        ("status", { run(TextTargets.status, $0, $1) }),
    ]

    private static func run(_ body: ([UInt8]) -> Void, _ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
        body(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    }

    static func main() {
        let name = CommandLine.arguments.dropFirst().first ?? ""
        if name == "--seeds", let folder = CommandLine.arguments.dropFirst(2).first { exit(Seeds.write(to: folder)) }
        guard let target = targets.first(where: { $0.name == name }) else {
            print(targets.map(\.name).joined(separator: "\n"))
            exit(name == "--list" ? 0 : 64)
        }
        // libFuzzer's arguments follow the target's name.
        var count = CommandLine.argc - 1
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv + 1
        exit(runDriver(&count, &arguments, target.body))
    }

    /// The library form of libFuzzer (FuzzerDriver.cpp), because the program has its own main function.
    @_silgen_name("LLVMFuzzerRunDriver") private static func runDriver(
        _ count: UnsafeMutablePointer<Int32>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32

    /// The repository, which `scripts/fuzz` runs this in.
    static let folder = "."

    static let library: ProfileLibrary = {
        do {
            return try ProfileLibrary.load(directories: [folder + "/DeviceProfiles"])
        } catch {
            print("\(error)")
            exit(66)
        }
    }()

    /// The profiles that read files.
    static let tables = library.profiles.filter { $0.channels != $0.binaryChannels }.map(\.id)

    /// The first line of an input names the target for the rest.
    static func split(_ input: [UInt8]) -> (name: String, bytes: [UInt8]) {
        let end = input.firstIndex(of: 0x0A) ?? 0
        return (String(decoding: input[..<end], as: UTF8.self), Array(input[min(end + 1, input.count)...]))
    }
}
