package struct Argument: Sendable, Equatable {
    package enum Arity: Sendable, Equatable {
        case one
        case optional
        case oneOrMore
        /// Any number, including none.
        case any
    }

    /// The name in the help and in ``Invocation/argument(_:)``, in capitals by convention: `FILE`.
    package var name: String
    /// One sentence for the help.
    package var help: String
    package var arity: Arity
    package var completion: Completion

    /// - Parameter name: in capitals by convention, such as `FILE`.
    package init(name: String, help: String, arity: Arity = .one, completion: Completion = .none) {
        self.name = name
        self.help = help
        self.arity = arity
        self.completion = completion
    }

    /// The form in a synopsis: `FILE`, `[FILE]`, `FILE...`, `[FILE...]`.
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
