import FileSource
import Glibc
import HealthModel
import Pipeline
import Profiles

/// Files as people import them.
enum FileTargets {
    private static let received = Instant(microseconds: 1_795_000_000_000_000)
    private static let library: ProfileLibrary? = try? ProfileLibrary.load(directories: [Fuzz.folder + "/DeviceProfiles"])

    static func tables(_ input: [UInt8]) {
        guard let head = try? TextFileHead.read(bytes: input).text, let match = try? library?.match(firstLines: head),
            let interpreter = try? ProfileInterpreter(match, registry: OriginRegistry(subject: "me"))
        else { return }
        switch match.form {
        case .delimited(let delimiter):
            let source = DelimitedFileSource(bytes: input, delimiter: delimiter, received: received)
            if interpreter.needsSurvey { try? interpreter.survey(source) }
            read(source, interpreter)
        case .jsonArray(let paths):
            let source = JSONArrayFileSource(bytes: input, paths: paths, received: received)
            if interpreter.needsSurvey { try? interpreter.survey(source) }
            read(source, interpreter)
        }
    }

    /// `export.xml`, or a ZIP with one.
    static func exports(_ input: [UInt8]) {
        let path = "/tmp/vitalgate-fuzz-\(getpid())"
        guard let file = fopen(path, "w") else { return }
        fwrite(input, 1, input.count, file)
        fclose(file)
        defer { unlink(path) }
        guard AppleHealthExport.recognises(path: path) else { return }
        read(
            AppleHealthExportSource(path: path, received: received),
            AppleHealthInterpreter(registry: OriginRegistry(subject: "me")))
    }

    private static func read(_ source: some FrameSource, _ interpreter: some FrameInterpreter) {
        var readings: [Reading] = []
        try? source.forEachFrame { frame in
            readings.removeAll(keepingCapacity: true)
            _ = try? interpreter.interpret(frame, into: &readings)
        }
    }
}
