import CommandLineKit
import Glibc
import HealthModel
import Hub
import Pipeline
import Profiles
import Wire

/// `decode serial:…`: finds the frames in recorded serial data.
struct SerialDecoding {
    let context: CommandContext
    let library: ProfileLibrary
    let person: String

    func run(_ channel: String) throws -> ExitCode {
        let invocation = context.invocation
        let profile = invocation.string("--profile")
        let family = library.serialFamily(channel)
        let bytes = try self.bytes()
        if family.count > 1, profile == nil, let bytes { return try decode(bytes, match: try best(of: family, for: bytes)) }
        guard let match = try? library.match(channel: family.first ?? channel, profile: profile) else {
            throw DecodeCommand.unknown(channel, context, library)
        }
        return try decode(bytes, match: match)
    }

    /// The device kind whose frames cover the most bytes, of several with the same name.
    private func best(of family: [String], for bytes: [UInt8]) throws -> BinaryMatch {
        var best: (match: BinaryMatch, taken: Int)?
        for name in family {
            let match = try library.match(channel: name)
            guard let framing = match.framing else { continue }
            var taken = 0
            var framer = StreamFramer(framing)
            let count = { (event: StreamFramer.Event) in if case .frame(let frame, _) = event { taken += frame.count } }
            bytes.withUnsafeBytes { framer.feed($0, count) }
            framer.finish(isCut: false, count)
            if taken > best?.taken ?? -1 { best = (match, taken) }
        }
        guard let best else { throw DecodeCommand.unknown(family[0], context, library) }
        return best.match
    }

    /// Decodes bytes or a file.
    ///
    /// - Parameter bytes: The bytes, or `nil` to read a file.
    private func decode(_ bytes: [UInt8]?, match: BinaryMatch) throws -> ExitCode {
        guard let framing = match.framing else { throw DecodeCommand.unknown(match.channelName, context, library) }
        let options = BinaryOptions(isStrict: context.invocation.flag("--strict"))
        let stream = DecodedStream(
            interpreter: BinaryInterpreter(match, registry: OriginRegistry(person: person), options: options), match: match,
            printer: FramePrinter(context: context, person: person, zone: try context.zone()))
        var framer = StreamFramer(framing)
        if let bytes {
            try bytes.withUnsafeBytes { try framer.feed($0, stream.take) }
        } else {
            try readFile { try framer.feed($0, stream.take) }
        }
        try framer.finish(isCut: false, stream.take)
        return stream.end(at: framer.offset)
    }

    private func bytes() throws -> [UInt8]? {
        let invocation = context.invocation
        let text = invocation.argument("DATA")
        if let file = invocation.string("--file") {
            guard text == nil else { throw invocation.invalid("DATA", value: text ?? "", expected: "no data with --file") }
            guard !file.isEmpty else { throw invocation.invalid("--file", value: file, expected: "a file name") }
            return nil
        }
        guard let text, let bytes = HexadecimalText.bytes(text) else {
            throw invocation.invalid("DATA", value: text ?? "", expected: "bytes of two hexadecimal digits each, or --file FILE")
        }
        return bytes
    }

    private func readFile(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let path = context.invocation.string("--file") ?? "-"
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SourceError(.noInput, "\(path): \(String(cString: strerror(errno)))") }
        defer { if path != "-" { close(descriptor) } }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw SourceError(.inputOutput, "\(path): \(String(cString: strerror(errno)))") }
            if count == 0 { return }
            try chunk.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}

/// Prints the frames of a stream and reports bytes outside frames.
private final class DecodedStream {
    private let interpreter: BinaryInterpreter
    private let match: BinaryMatch
    private let printer: FramePrinter
    private var frames = 0
    private var notes = 0
    private static let maximumNotes = 20
    private var isMalformed = false
    /// The last skipped bytes. A truncated frame within a stream counts as noise, and at the end it counts as an incomplete frame.
    private var lastSkip: SkippedBytes?

    init(interpreter: BinaryInterpreter, match: BinaryMatch, printer: FramePrinter) {
        self.interpreter = interpreter
        self.match = match
        self.printer = printer
    }

    func take(_ event: StreamFramer.Event) throws {
        switch event {
        case .frame(let bytes, let offset):
            if interpreter.isBlank(bytes) { return }
            do throws(FrameError) {
                try interpreter.decode(bytes)
            } catch {
                isMalformed = true
                var error = error
                error.offset += offset
                return refuse(error)
            }
            frames += 1
            try printer.print(interpreter, match, at: Place(.byte, offset))
        case .skipped(let skipped):
            lastSkip = skipped
            if skipped.fault.reason == .checkCode || skipped.fault.reason == .tooLong { isMalformed = true }
            refuse(FrameError(skipped.fault), bytes: skipped.count)
        }
    }

    private func refuse(_ error: FrameError, bytes: Int? = nil) {
        notes += 1
        guard notes <= Self.maximumNotes else { return }
        let count = bytes.map { $0 == 1 ? " (1 byte skipped)" : " (\($0) bytes skipped)" } ?? ""
        printer.context.note("vitalgate: byte \(error.offset): \(error)\(count)")
    }

    func end(at offset: Int) -> ExitCode {
        if offset == 0 { printer.context.note("vitalgate: byte 0: truncated: the frame is missing or cut off") }
        if notes > Self.maximumNotes { printer.context.note("vitalgate: \(notes - Self.maximumNotes) more errors like these") }
        if let lastSkip, lastSkip.offset + lastSkip.count == offset { isMalformed = true }
        return frames > 0 && !isMalformed ? .success : .dataError
    }
}
