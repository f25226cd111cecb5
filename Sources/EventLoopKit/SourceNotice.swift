/// One line of the log.
package struct SourceNotice: Hashable, Sendable, CustomStringConvertible {
    /// The importance for a reader of the log, in ascending order.
    package enum Weight: Int, Hashable, Sendable, Comparable {
        /// In this order: shown with `--verbose`, normal operation, and a problem that may resolve itself.
        case detail, information, warning
        /// The user has to act.
        case action
        package static func < (one: Weight, other: Weight) -> Bool { one.rawValue < other.rawValue }
    }

    package var weight: Weight
    /// A device's or an adapter's address, `bluetoothd` or `D-Bus`.
    package var component: String
    /// The message, which never contains a reading's value.
    package var text: String

    /// - Parameter component: The subject, such as a device's address.
    package init(_ weight: Weight, _ component: String, _ text: String) {
        self.weight = weight
        self.component = component
        self.text = text
    }

    /// The notice as one line, with line breaks replaced by spaces.
    package var description: String { String("\(component): \(text)".map { $0.isNewline ? " " : $0 }) }
}
