/// What is wrong with a profile, and where in it.
public struct ProfileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file it stands in; empty for a text without one.
    public var file: String
    /// The way to the key, such as `channels[0].readings[2].type`; empty for the document as a whole.
    public var keyPath: String
    /// What is wrong, for a person.
    public var message: String

    /// - Parameter keyPath: the way to the key; empty for the document as a whole.
    public init(_ keyPath: String, _ message: String, file: String = "") {
        self.keyPath = keyPath
        self.message = message
        self.file = file
    }

    public var description: String { [file, keyPath, message].filter { !$0.isEmpty }.joined(separator: ": ") }
}

/// Several problems at once: all that were found in the files that were read.
public struct ProfileErrors: Error, Hashable, Sendable, CustomStringConvertible {
    /// In the order in which they were found.
    public var problems: [ProfileProblem]
    /// In the order in which they were found.
    public init(_ problems: [ProfileProblem]) { self.problems = problems }
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
