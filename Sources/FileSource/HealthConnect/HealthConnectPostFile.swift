import HealthModel
import Pipeline

/// Recognizes posts of the app HC Webhook (Android), which sends the records of Health Connect:
///
///     {"timestamp": "2026-05-11T10:00:00.123Z", "app_version": "1.9.9", "weight": [{"kilograms": 72.45, "time": "2026-05-11T05:31:00Z"}]}
///
/// The app Life Dashboard Companion sends similar posts with a member `source`. They have other rules, and are refused.
package enum HealthConnectPostFile {
    /// The number of bytes that are examined to recognize a file.
    package static let decidingLength = 4 << 10
    static let (timestamp, version, source) = ("timestamp", "app_version", "source")

    /// Whether an open file begins like a post. A file that cannot be read returns `false`.
    package static func recognises(_ file: InputFile) -> Bool { file.begins(decidingLength, recognises) }

    /// Whether the bytes begin like a post: its first two members are the time and the version of the app.
    static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        var reader = JSONReader<JSONFault>(
            beginning, from: ByteOrderMark.lengthUTF8(beginning), checks: .structure, maximumDepth: JSONStream.maximumDepth)
        reader.skipBlanks()
        return (try? beginsPost(&reader)) ?? false
    }

    private static func beginsPost(_ reader: inout JSONReader<JSONFault>) throws(JSONFault) -> Bool {
        guard reader.take("{") else { return false }
        var names: Set<String> = []
        for count in 0..<2 {
            guard let name = try reader.nextName(after: count) else { return false }
            names.insert(name.text(in: reader.bytes))
            try reader.colon()
            guard try reader.kind() == .string else { return false }
            _ = try reader.value()
        }
        return names == [timestamp, version]
    }
}

/// Reads a post, record by record, for ``HealthConnectPostInterpreter``. The text is read twice, so that a post that is cut or malformed is
/// refused as a whole.
package final class HealthConnectPostSource: FrameSource {
    /// Members that are not read.
    package private(set) var unread = Unread()
    private let open: () -> any ByteInput
    private let received: Instant
    private var surveyed: HealthConnectPostWalk?

    /// Reads an open file.
    package init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        open = { FileInput(file, meter: meter) }
        self.received = received
    }

    /// Reads bytes from memory, for tests.
    package init(bytes: [UInt8], received: Instant) {
        open = { MemoryInput(bytes) }
        self.received = received
    }

    /// Checks the whole text, without which no frame is delivered.
    ///
    /// - Throws: ``SourceError`` if the text is cut or malformed.
    package func survey() throws { surveyed = try walked() }

    private func walked() throws -> HealthConnectPostWalk {
        let walk = try HealthConnectPostWalk(open())
        try walk.run()
        return walk
    }

    /// Passes the time of the post and each record to `handle`.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let survey = try surveyed ?? walked()
        unread = survey.unread
        try withoutActuallyEscaping(handle) { handle in
            try TextRow.with([HealthConnectPostFile.timestamp, survey.timestamp]) { [received] row in
                try handle(RawFrame(payload: .row(row), place: Place(.record, 0), received: received))
            }
            var number = 0
            let walk = try HealthConnectPostWalk(open()) { [received] name, record in
                number += 1
                let place = Place(.record, number)
                guard let record else {
                    let reason = "it is longer than \(HealthConnectPostWalk.maximumRecord >> 20) MiB"
                    return try handle(RawFrame(payload: .malformed(reason), place: place, received: received))
                }
                try TextRow.with([name], record) { row in
                    try handle(RawFrame(payload: .row(row), place: place, received: received))
                }
            }
            try walk.run()
        }
    }
}

/// Walks through the text of a post once.
final class HealthConnectPostWalk {
    /// The maximum length of a record in bytes. A night with a stage for each minute has 100 KiB.
    static let maximumRecord = 1 << 20
    /// The time at which the post was made, as written.
    private(set) var timestamp = ""
    /// The names of members that are not read.
    private(set) var unread = Unread()

    private let stream: JSONStream
    /// Called with the name of the list, and the record or `nil` if it is too long.
    private let onRecord: (String, UnsafeRawBufferPointer?) throws -> Void

    init(
        _ input: any ByteInput, onRecord: @escaping (String, UnsafeRawBufferPointer?) throws -> Void = { _, _ in }
    ) throws(SourceError) {
        stream = try JSONStream(input, maximumValue: Self.maximumRecord)
        self.onRecord = onRecord
    }

    /// Reads to the end of the text.
    ///
    /// - Throws: ``SourceError`` if the text is cut or malformed, or is of another app.
    func run() throws {
        try stream.forEachMember { [self] name in
            switch name {
            case HealthConnectPostFile.timestamp: timestamp = try stream.text() ?? ""
            case HealthConnectPostFile.version: _ = try stream.value()
            case HealthConnectPostFile.source:
                throw stream.fault("it is of an app whose posts are not supported, such as Life Dashboard Companion")
            default:
                if try stream.begins(with: "[") {
                    try stream.forEachElement { [self] in try onRecord(name, stream.value()) }
                } else {
                    _ = try stream.value()
                    unread.count(name, as: .member)
                }
            }
        }
        guard try stream.next() == nil else { throw stream.fault("there is text after the post") }
    }
}
