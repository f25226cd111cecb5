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

/// Reads a post, record by record, for ``HealthConnectPostInterpreter``.
package typealias HealthConnectPostSource = PostSource<HealthConnectPostWalk>

/// Walks through the text of a post once. An element is the name of its list.
package final class HealthConnectPostWalk: PostWalk {
    /// A night with a stage for each minute has 100 KiB.
    package static let maximumElement = 1 << 20
    /// The time at which the post was made, as written.
    private var timestamp = ""
    package private(set) var unread = Unread()

    private let stream: JSONStream
    private let onElement: Handler

    package init(_ stream: JSONStream, onElement: @escaping (String, UnsafeRawBufferPointer?) throws -> Void) {
        (self.stream, self.onElement) = (stream, onElement)
    }

    package var facts: [[String]] { [[HealthConnectPostFile.timestamp, timestamp]] }
    package func heading(of list: String, after previous: String?) -> [String]? { nil }
    package func cells(of list: String) -> [String] { [list] }

    package func run() throws {
        try stream.forEachMember { [self] name in
            switch name {
            case HealthConnectPostFile.timestamp: timestamp = try stream.text() ?? ""
            case HealthConnectPostFile.version: _ = try stream.value()
            case HealthConnectPostFile.source:
                throw stream.fault("it is of an app whose posts are not supported, such as Life Dashboard Companion")
            default:
                if try stream.begins(with: "[") {
                    try stream.forEachElement { [self] in try onElement(name, stream.value()) }
                } else {
                    _ = try stream.value()
                    unread.count(name, as: .member)
                }
            }
        }
        guard try stream.next() == nil else { throw stream.fault("there is text after the post") }
    }
}
