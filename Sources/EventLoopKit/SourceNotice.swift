/// A line of the log.
public struct SourceNotice: Hashable, Sendable, CustomStringConvertible {
    public enum Weight: Int, Hashable, Sendable, Comparable {
        case detail, information, warning
        /// A person has to do something.
        case action
        public static func < (one: Weight, other: Weight) -> Bool { one.rawValue < other.rawValue }
    }

    public var weight: Weight
    /// A device's or an adapter's address, `bluetoothd` or `D-Bus`.
    public var subject: String
    public var text: String

    public init(_ weight: Weight, _ subject: String, _ text: String) {
        self.weight = weight
        self.subject = subject
        self.text = text
    }

    /// One line, whatever a device's name in it holds.
    public var description: String { String("\(subject): \(text)".map { $0.isNewline ? " " : $0 }) }
}
