import Glibc

/// A system call that failed.
public struct SystemFailure: Error, CustomStringConvertible {
    /// The subject and the cause: `/etc: Permission denied`.
    public let description: String
    /// The value of `errno`.
    public let code: Int32

    /// The cause without the subject, whose name may be private.
    public var reason: String { String(cString: strerror(code)) }

    /// - Parameter path: The file or the call.
    /// - Parameter code: The value of `errno`.
    public init(_ path: String, _ code: Int32) {
        description = "\(path): \(String(cString: strerror(code)))"
        self.code = code
    }
}
