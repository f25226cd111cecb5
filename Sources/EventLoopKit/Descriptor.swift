import Glibc

/// A file descriptor with one owner, closed when the last reference goes (story 11, descriptors that leak until the machine dies).
package final class Descriptor: Equatable {
    /// The number for system calls.
    package let number: Int32

    /// Takes ownership of the descriptor.
    package init(owning number: Int32) { self.number = number }

    /// A duplicate of a descriptor that another owner closes.
    package convenience init?(copying number: Int32) {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        self.init(owning: copy)
    }

    deinit { close(number) }

    package static func == (one: Descriptor, other: Descriptor) -> Bool { one === other }
}
