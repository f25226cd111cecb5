import Glibc

package struct SystemFailure: Error, CustomStringConvertible {
    /// The subject and the cause: `/etc: Permission denied`.
    package let description: String
    /// The value of `errno`.
    package let code: Int32

    /// The cause without the subject, whose name may be private.
    package var reason: String { String(cString: strerror(code)) }

    /// - Parameter path: The file or the call.
    /// - Parameter code: The value of `errno`.
    package init(_ path: String, _ code: Int32) {
        description = "\(path): \(String(cString: strerror(code)))"
        self.code = code
    }
}
