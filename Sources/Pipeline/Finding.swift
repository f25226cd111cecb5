/// What a look at this machine found, with what mends it.
///
///     Finding(.broken, "rfkill hci0", "switched off", command: "sudo rfkill unblock bluetooth")
public struct Finding: Hashable, Sendable {
    public enum Weight: String, Hashable, Sendable {
        case good = "ok"
        /// It works, and may not for ever.
        case warning
        /// Nothing comes of it as it is.
        case broken
    }

    public var weight: Weight
    /// What was looked at, such as `adapter hci0`.
    public var subject: String
    public var text: String
    /// A command, where one helps.
    public var command: String?

    public init(_ weight: Weight, _ subject: String, _ text: String, command: String? = nil) {
        self.weight = weight
        self.subject = subject
        self.text = text
        self.command = command
    }
}
