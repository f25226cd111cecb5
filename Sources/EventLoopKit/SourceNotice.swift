/// A line of the log.
public struct SourceNotice: Hashable, Sendable, CustomStringConvertible {
    /// How much a person who reads the log is concerned; the later ones more.
    public enum Weight: Int, Hashable, Sendable, Comparable {
        /// Shown with `--verbose`; of the usual course; of what is wrong and may mend itself.
        case detail, information, warning
        /// A person has to do something.
        case action
        public static func < (one: Weight, other: Weight) -> Bool { one.rawValue < other.rawValue }
    }

    /// How much a person is concerned.
    public var weight: Weight
    /// A device's or an adapter's address, `bluetoothd` or `D-Bus`.
    public var subject: String
    /// What there is to say; never a reading's value.
    public var text: String

    /// - Parameter subject: whom it is about, such as a device's address.
    public init(_ weight: Weight, _ subject: String, _ text: String) {
        self.weight = weight
        self.subject = subject
        self.text = text
    }

    /// One line, whatever a device's name in it holds.
    public var description: String { String("\(subject): \(text)".map { $0.isNewline ? " " : $0 }) }
}
