/// A value that is known by its place on the command line.
public struct Argument: Sendable, Equatable {
    /// How many values there may be.
    public enum Arity: Sendable, Equatable {
        /// Exactly one.
        case one
        /// One or none.
        case optional
        /// One at least.
        case oneOrMore
        /// Any number, also none.
        case any
    }

    /// Its name in the help and in ``Invocation/argument(_:)``, by custom in capitals: `FILE`.
    public var name: String
    /// One sentence for the help.
    public var help: String
    /// How many values there may be.
    public var arity: Arity
    /// What the shell proposes.
    public var completion: Completion

    /// - Parameter name: by custom in capitals, as `FILE`.
    public init(name: String, help: String, arity: Arity = .one, completion: Completion = .none) {
        self.name = name
        self.help = help
        self.arity = arity
        self.completion = completion
    }

    /// Its form in a synopsis: `FILE`, `[FILE]`, `FILE...`, `[FILE...]`.
    var synopsis: String {
        switch arity {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)..."
        case .any: "[\(name)...]"
        }
    }

    var isRequired: Bool { arity == .one || arity == .oneOrMore }
    var isRepeating: Bool { arity == .oneOrMore || arity == .any }
}
