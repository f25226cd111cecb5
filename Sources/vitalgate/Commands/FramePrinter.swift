import Formats
import HealthModel
import Pipeline
import Profiles
import Wire

/// Prints each decoded frame with its fields and samples as one JSON object.
struct FramePrinter {
    let context: CommandContext
    let person: String
    let zone: TimeZoneRules

    /// Prints the frame that the interpreter decoded last.
    /// - Parameter place: The position in the stream.
    func print(_ interpreter: BinaryInterpreter, _ match: BinaryMatch, at place: Place?) throws {
        var object = JSONObject([
            "channel": match.channelName, "profile": match.profile.id, "place": place?.description,
            "fields": RawJSON(interpreter.fieldsJSON),
        ])
        if let cutOff = interpreter.frame.cutOff {
            object.set(
                "cutOff",
                JSONObject([
                    "field": cutOff.field, "at": cutOff.offset, "octets": HexadecimalText.text(cutOff.bytes).uppercased(),
                ]))
            context.note(
                "vitalgate: byte \(cutOff.offset): \(cutOff.field) is cut off, so only the complete values before it are used")
        }
        var samples: [GatedSample] = []
        do throws(Refusal) {
            var readings: [Reading] = []
            if case .skipped(let kind) = try interpreter.appendReadings(at: place ?? Place(.byte, 0), to: &readings) {
                object.set("skipped", kind.name)
            }
            samples = try ReadingPath.samples(of: readings, zone: zone, received: context.machine.now())
        } catch {
            // The frame is valid, so its fields are printed, but its samples would not be stored.
            context.note("vitalgate: no samples: \(error.reason)")
            object.set("refused", error.reason)
        }
        DecodeCommand.reportQuarantined(samples, at: place, context)
        object.set("samples", raw: DecodeCommand.samples(samples, SampleLine(me: person)))
        try context.streams.output.write(object.line)
    }
}
