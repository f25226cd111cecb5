import ClinicalModel
import Glibc
import HealthModel
import Ingestion
import Pipeline
import Profiles

@testable import FileSource

/// Files as people import them.
enum FileTargets {
    private static let received = Instant(microseconds: 1_795_000_000_000_000)

    /// The first line names the profile that reads the rest. If it is empty, all profiles are tried, as for a user's file. An unknown name
    /// also selects one of them.
    static func tables(_ input: [UInt8]) {
        let (name, bytes) = Fuzz.split(input)
        let readers = Fuzz.tables
        let number = name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & Int.max
        let id = name.isEmpty || readers.contains(name) ? name : readers[number % readers.count]
        guard let head = try? TextFileHead.read(bytes: bytes).text,
            let match = try? Fuzz.library.match(firstLines: head, profile: id.isEmpty ? nil : id),
            let interpreter = try? ProfileInterpreter(match, registry: OriginRegistry(person: "me"))
        else { return }
        let source = source(bytes, match.form)
        if interpreter.needsSurvey { try? interpreter.survey(source) }
        read(source, interpreter)
    }

    /// Splits rows as a profile describes.
    static func source(_ bytes: [UInt8], _ form: ProfileMatch.Form) -> any FrameSource {
        switch form {
        case .delimited(let delimiter): DelimitedFileSource(bytes: bytes, delimiter: delimiter, received: received)
        case .jsonArray(let paths, let rows, _): JSONArrayFileSource(bytes: bytes, paths: paths, rows: rows, received: received)
        case .database: FileReading.source(of: [], form: form)
        }
    }

    /// `export.xml`, or a ZIP with one.
    static func exports(_ input: [UInt8]) {
        let path = "/tmp/vitalgate-fuzz-\(getpid())"
        guard let file = fopen(path, "w") else { return }
        fwrite(input, 1, input.count, file)
        fclose(file)
        defer { unlink(path) }
        guard let export = try? InputFile(path: path), AppleHealthExport.recognises(export) else { return }
        // Small bombs are enough: one that unpacks to a gigabyte shows the same, but later.
        let limits = ZipArchive.Limits(free: 1 << 20, ratio: 100, total: 1 << 22, members: 1000)
        read(
            AppleHealthExportSource(export, path: path, received: received, limits: limits),
            AppleHealthInterpreter(registry: OriginRegistry(person: "me")))
    }

    /// FHIR resources.
    static func resources(_ input: [UInt8]) {
        read(
            ResourceFileSource(bytes: input, received: received), ClinicalInterpreter(registry: OriginRegistry(person: "me")))
    }

    /// A GPX file. Its result can be read back.
    static func routes(_ input: [UInt8]) {
        let interpreter = GPXInterpreter(registry: OriginRegistry(person: "me"))
        var readings: [Reading] = []
        try? GPXFile.forEachRow(in: PrefixedInput(MemoryInput(input))) { row, place in
            let frame = RawFrame(payload: .row(row), place: place, received: received, channel: GPXRow.channel)
            _ = try? interpreter.interpret(frame, into: &readings)
        }
        for reading in readings { readBack(reading) }
    }

    /// The CSV file of an electrocardiogram.
    static func electrocardiograms(_ input: [UInt8]) {
        let interpreter = ElectrocardiogramInterpreter(registry: OriginRegistry(person: "me"))
        var readings: [Reading] = []
        try? ElectrocardiogramFile.forEachLine(in: MemoryInput(input), received: received) { frame in
            _ = try? interpreter.interpret(frame, into: &readings)
        }
        let row = TextRow()
        let end = ElectrocardiogramRow.end
        row.cells = [UnsafeRawBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)]
        _ = try? interpreter.interpret(
            RawFrame(payload: .row(row), place: Place(.line, 1), received: received, channel: ElectrocardiogramRow.channel),
            into: &readings)
        for reading in readings { readBack(reading) }
    }

    private struct Series: Decodable { var points: Points }

    private static func readBack(_ reading: Reading) {
        guard let body = reading.body, let content = body.content,
            let points = try? body.decoded(as: Series.self).points, var reader = try? PointsReader(points, content)
        else { preconditionFailure("a series without its points") }
        do {
            var count = 0
            while try reader.next() != nil { count += 1 }
            precondition(count == points.count)
        } catch {
            preconditionFailure("points that cannot be read back")
        }
    }

    private static func read(_ source: any FrameSource, _ interpreter: any FrameInterpreter) {
        var readings: [Reading] = []
        try? source.forEachFrame { frame in
            readings.removeAll(keepingCapacity: true)
            _ = try? interpreter.interpret(frame, into: &readings)
        }
    }
}
