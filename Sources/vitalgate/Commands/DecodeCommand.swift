import CommandLineKit
import Formats
import HealthModel
import Pipeline
import Profiles
import Wire

/// `decode`: shows frames, their fields and their samples without a store.
enum DecodeCommand: Command {
    static let specification = CommandSpecification(
        name: "decode", summary: "Decode one message of a device without storing anything.",
        discussion: """
            A frame is one message from a device. The command prints one JSON object for each frame, with its fields and the \
            samples that it contains. Give the bytes of the frame in hexadecimal, as they were received. Give the CHANNEL that \
            the frame came from in one of these forms: gatt:2A37 (a Bluetooth characteristic, or 2A37 for short), advert:FCD2 \
            (service data in an advertisement), advert:manufacturer:0499 (manufacturer data in an advertisement), or \
            serial:CMS50 (a serial device).

            For the CHANNEL csv, give a header line and rows instead. The command then prints one JSON object for each row.

            If the frame is malformed, the exit status is 65, and the command prints the reason and the position on standard \
            error. Serial data may contain several frames. Bytes between them are skipped and reported.
            """,
        arguments: [
            Argument(name: "CHANNEL", help: "Origin of the data, such as gatt:2A37, advert:FCD2, serial:CMS50 or csv."),
            Argument(
                name: "DATA", help: "Bytes in hexadecimal, or text for csv (omit with --file).",
                arity: .optional),
        ],
        options: [
            SharedOptions.profile,
            Option(
                names: ["--name"], value: "TEXT",
                help: "Bluetooth name of the device, which selects the profile if several read this channel."),
            Option(
                names: ["--strict"],
                help: "Refuse a frame with reserved bits or values (default: ignore them, as the standard requires)."),
            Option(
                names: ["--bind-key"], value: "HEX",
                help:
                    """
                    Key that decrypts the advertisement, 16 bytes in hexadecimal (- reads it from standard input, so that 'ps' \
                    does not show it).
                    """
            ),
            Option(
                names: ["--address"], value: "MAC",
                help: "Bluetooth address of the sender, for encrypted advertisements."),
            Option(
                names: ["--file"], value: "FILE",
                help: "File with the bytes received on a serial channel (- for standard input).",
                completion: .file),
            Option(
                names: ["--times"], value: "N",
                help: "Decode the frame N times and print the average duration."),
            Option(
                names: ["--person"], formerNames: ["--subject"], value: "ID",
                help: "UUID of the person for whom sample UUIDs are computed (default: me)."),
            SharedOptions.timeZone,
        ],
        examples: [
            Example(
                "vitalgate decode 2A37 16480C03", "72 beats per minute and one beat-to-beat interval from a chest strap."
            ),
            Example("vitalgate decode serial:CMS50 86524F0061", "SpO2 97 % and pulse 128 from a finger oximeter."),
            Example(
                "vitalgate decode csv $'time,type,value,unit\\n2026-11-20T06:31:00+01:00,bodyTemperature,98.60,[degF]'",
                "One row of the generic CSV format."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let channel = channelName(invocation.argument("CHANNEL") ?? "")
        let person = invocation.string("--person") ?? "me"
        guard person == "me" || person == Origin.unassigned || UUIDText.isValid(person) else {
            throw invocation.invalid("--person", value: person, expected: "a UUID, me or unassigned")
        }
        let library = try ProfileCommand.library(context)
        if channel.hasPrefix("serial:") {
            return try SerialDecoding(context: context, library: library, person: person).run(channel)
        }
        if invocation.string("--file") != nil {
            throw invocation.invalid(
                "--file", value: invocation.string("--file") ?? "", expected: "no file, because only serial channels read one")
        }
        guard invocation.argument("DATA") != nil else {
            throw invocation.invalid(
                "DATA", value: "", expected: channel == "csv" ? "text: a header line and rows" : "the frame in hexadecimal")
        }
        if channel == "csv" { return try RowDecoding(context: context, library: library, person: person).run() }
        guard library.binaryChannels.contains(where: { $0.lowercased() == channel.lowercased() }) else {
            throw unknown(channel, context, library)
        }
        return try HexDecoding(context: context, library: library, person: person).run(channel)
    }

    /// Completes a channel's name: `2A37` becomes `gatt:2A37`.
    private static func channelName(_ text: String) -> String {
        text.utf8.count == 4 && text.allSatisfy(\.isHexDigit) ? "gatt:" + text.uppercased() : text
    }

    /// The error for a channel that no profile reads. It lists the known channels.
    static func unknown(_ channel: String, _ context: CommandContext, _ library: ProfileLibrary) -> any Error {
        context.invocation.invalid(
            "CHANNEL", value: context.invocation.argument("CHANNEL") ?? "",
            expected: "csv, or a channel that a profile reads: \(library.binaryChannels.joined(separator: ", "))")
    }

    /// Reports samples that would be quarantined, and the rule, without values.
    static func reportQuarantined(_ samples: [GatedSample], at place: Place?, _ context: CommandContext) {
        for gated in samples {
            guard let rule = gated.rule else { continue }
            context.note(
                "vitalgate: \(place.map { "\($0): " } ?? "")\(gated.sample.origin.type.id) would be quarantined by \(rule): "
                    + rule.explanation
            )
        }
    }

    /// The samples as a JSON array.
    static func samples(_ samples: [GatedSample], _ line: SampleLine) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, gated) in samples.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            line.append(gated.sample, ingest: nil, seq: nil, to: &bytes)
            bytes.removeLast()
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }
}

/// Decodes one frame of bytes.
private struct HexDecoding {
    let context: CommandContext
    let library: ProfileLibrary
    let person: String

    func run(_ channel: String) throws -> ExitCode {
        let invocation = context.invocation
        let text = invocation.argument("DATA") ?? ""
        guard let bytes = HexadecimalText.bytes(text) else {
            throw invocation.invalid("DATA", value: text, expected: "bytes of two hexadecimal digits each")
        }
        var options = BinaryOptions(isStrict: invocation.flag("--strict"))
        options.secrets.bindKey = try hexBytes("--bind-key", count: 16)
        options.secrets.address = try hexBytes("--address", count: 6)
        let match = try match(channel, bytes, options.secrets.address)
        let interpreter = BinaryInterpreter(match, registry: OriginRegistry(person: person), options: options)
        let decoded = bytes.withUnsafeBytes { bytes -> FrameError? in
            do throws(FrameError) {
                try interpreter.decode(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let error = decoded {
            context.note("vitalgate: byte \(error.offset): \(error)")
            return .dataError
        }
        if let times = try invocation.integer("--times", in: 1...1_000_000_000) {
            return try measure(interpreter, bytes, times: times)
        }
        let printer = FramePrinter(context: context, person: person, zone: try context.zone())
        try printer.print(interpreter, match, at: nil)
        return .success
    }

    /// The profile that was named, or the one that reads the channel. If several do, the one that can read this frame.
    private func match(_ channel: String, _ bytes: [UInt8], _ address: [UInt8]?) throws -> BinaryMatch {
        if let id = context.invocation.string("--profile") { return try library.match(channel: channel, profile: id) }
        let matches = library.matches(channel: channel, name: context.invocation.string("--name"))
        guard matches.count > 1 else { return try matches.first ?? library.match(channel: channel) }
        let fitting = matches.filter { $0.mayRead(bytes, address: address) }
        guard fitting.count < 2 else { throw ProfileMatchError.severalMatch(ids: fitting.map(\.profile.id)) }
        return fitting.first ?? matches[0]
    }

    /// Measures repeated decoding of a frame for `scripts/bench`.
    private func measure(_ interpreter: BinaryInterpreter, _ bytes: [UInt8], times: Int) throws -> ExitCode {
        var readings: [Reading] = []
        let began = Monotonic.nanoseconds()
        for _ in 0..<times {
            try bytes.withUnsafeBytes { try interpreter.decode($0) }
        }
        let decoded = Monotonic.nanoseconds()
        for _ in 0..<times {
            readings.removeAll(keepingCapacity: true)
            try bytes.withUnsafeBytes { try interpreter.decode($0) }
            _ = try interpreter.appendReadings(at: Place(.byte, 0), to: &readings)
        }
        try context.streams.output.write(
            JSONObject([
                "frames": times, "nanosecondsToDecode": Double(decoded - began) / Double(times),
                "nanosecondsToReadings": Double(Monotonic.nanoseconds() - decoded) / Double(times),
            ]).line)
        return .success
    }

    private func hexBytes(_ option: String, count: Int) throws -> [UInt8]? {
        guard let text = try context.secret(option) else { return nil }
        guard let hexBytes = HexadecimalText.bytes(text), hexBytes.count == count else {
            // The message omits the value because it may be almost a key and must not end up in a log.
            throw context.invocation.invalid(option, value: "…", expected: "\(count) bytes of two hexadecimal digits each")
        }
        return hexBytes
    }
}
