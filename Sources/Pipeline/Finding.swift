/// The result of one check of this machine, with a command that fixes the problem.
///
///     Finding(.broken, "rfkill hci0", "switched off", command: "sudo rfkill unblock bluetooth")
public struct Finding: Hashable, Sendable {
    public enum Weight: String, Hashable, Sendable {
        case good = "ok"
        /// It works now but may fail later.
        case warning
        /// It does not work in its current state.
        case broken
    }

    public var weight: Weight
    /// The object that was checked, such as `adapter hci0`.
    public var component: String
    public var text: String
    /// A command that fixes the problem, if there is one.
    public var command: String?

    public init(_ weight: Weight, _ component: String, _ text: String, command: String? = nil) {
        self.weight = weight
        self.component = component
        self.text = text
        self.command = command
    }
}
