package struct ProfileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The profile's file, or empty for a text without a file.
    package var file: String
    /// The key path, such as `channels[0].readings[2].type`, or empty for the whole document.
    package var keyPath: String
    /// The description of the problem, for users.
    package var message: String

    /// - Parameter keyPath: the key path, or empty for the whole document.
    package init(_ keyPath: String, _ message: String, file: String = "") {
        self.keyPath = keyPath
        self.message = message
        self.file = file
    }

    package var description: String { [file, keyPath, message].filter { !$0.isEmpty }.joined(separator: ": ") }
}

/// All problems that were found in the files.
package struct ProfileErrors: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problems in the order in which they were found.
    package var problems: [ProfileProblem]
    /// Creates an error from problems in the order in which they were found.
    package init(_ problems: [ProfileProblem]) { self.problems = problems }
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
