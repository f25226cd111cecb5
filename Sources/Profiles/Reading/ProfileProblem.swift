/// A problem in a profile, and its position.
public struct ProfileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The profile's file, or empty for a text without a file.
    public var file: String
    /// The key path, such as `channels[0].readings[2].type`, or empty for the whole document.
    public var keyPath: String
    /// The description of the problem, for users.
    public var message: String

    /// - Parameter keyPath: the key path, or empty for the whole document.
    public init(_ keyPath: String, _ message: String, file: String = "") {
        self.keyPath = keyPath
        self.message = message
        self.file = file
    }

    public var description: String { [file, keyPath, message].filter { !$0.isEmpty }.joined(separator: ": ") }
}

/// All problems that were found in the files.
public struct ProfileErrors: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problems in the order in which they were found.
    public var problems: [ProfileProblem]
    /// Creates an error from problems in the order in which they were found.
    public init(_ problems: [ProfileProblem]) { self.problems = problems }
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
