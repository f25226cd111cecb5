import Glibc

/// A system call that failed.
public struct SystemFailure: Error, CustomStringConvertible {
    /// What it is about and why it failed: `/etc: Permission denied`.
    public let description: String
    /// The value of `errno`.
    public let code: Int32

    /// Why it failed, without what it is about, whose name may be private.
    public var reason: String { String(cString: strerror(code)) }

    /// - Parameter subject: the file or the call.
    /// - Parameter code: the value of `errno`.
    public init(_ subject: String, _ code: Int32) {
        description = "\(subject): \(String(cString: strerror(code)))"
        self.code = code
    }
}
