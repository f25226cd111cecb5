import CommandLineKit
import Formats
import HealthModel
import Ingestion
import Pipeline
import Profiles

/// Decodes the rows of a text for `decode csv`.
struct RowDecoding {
    let context: CommandContext
    let library: ProfileLibrary
    let person: String

    func run() throws -> ExitCode {
        let text = context.invocation.argument("DATA") ?? ""
        let match = try library.match(firstLines: text, profile: context.invocation.string("--profile"))
        let interpreter = try ProfileInterpreter(match, registry: OriginRegistry(person: person))
        let source = FileReading.source(of: Array(text.utf8), form: match.form)
        try interpreter.survey(source)
        var decoder = RowDecoder(
            interpreter: interpreter, zone: try context.zone(), received: context.machine.now(), line: SampleLine(me: person))
        var code = ExitCode.success
        try source.forEachFrame { frame in
            do throws(Refusal) {
                if let (object, samples) = try decoder.decode(frame) {
                    DecodeCommand.reportQuarantined(samples, at: frame.place, context)
                    try? context.streams.output.write(object.line)
                }
            } catch {
                context.note("vitalgate: \(error.place): \(error.reason)")
                code = .dataError
            }
        }
        for note in interpreter.notes { context.note("note: \(note)") }
        return code
    }
}

/// Decodes rows one by one and keeps the header for the names of the fields.
private struct RowDecoder {
    let interpreter: ProfileInterpreter
    let zone: TimeZoneRules
    let received: Instant
    let line: SampleLine
    var header: [String] = []

    mutating func decode(_ frame: RawFrame) throws(Refusal) -> (JSONObject, [GatedSample])? {
        var readings: [Reading] = []
        let outcome = try interpreter.interpret(frame, into: &readings)
        guard case .row(let row) = frame.payload else { return nil }
        let cells = (0..<row.count).map { row.text($0) }
        if outcome == .notData {
            header = cells
            return nil
        }
        let samples = try ReadingPath.samples(of: readings, zone: zone, received: received)
        var fields = JSONObject()
        for (index, cell) in cells.enumerated() { fields.set(index < header.count ? header[index] : "\(index + 1)", cell) }
        var object = JSONObject([
            "channel": "csv", "profile": interpreter.profile.id, "place": frame.place.description, "fields": fields,
        ])
        if case .skipped(let kind) = outcome { object.set("skipped", kind.name) }
        object.set("samples", raw: DecodeCommand.samples(samples, line))
        return (object, samples)
    }
}
