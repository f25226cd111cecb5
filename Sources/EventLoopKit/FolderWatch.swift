import Glibc

/// Reports changes in one folder, using inotify(7). It costs nothing while nothing changes.
package final class FolderWatch {
    package enum Event: Equatable {
        /// A change of the entry with this name, which need not be UTF-8.
        case entry([UInt8])
        /// The kernel's queue overflowed. Rescan the whole folder.
        case overflow
        /// The folder was removed or renamed. No more events follow.
        case removed
    }

    package struct Changes: OptionSet, Sendable {
        /// The flags of inotify(7).
        package let rawValue: UInt32
        /// - Parameter rawValue: The flags of inotify(7).
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        init(_ flag: Int32) { rawValue = UInt32(flag) }

        /// A file, folder or link was created.
        package static let created = Changes(Int32(IN_CREATE))
        /// An entry was moved here.
        package static let movedIn = Changes(Int32(IN_MOVED_TO))
        /// A file was closed by its writer.
        package static let written = Changes(Int32(IN_CLOSE_WRITE))
        package static let deleted = Changes(Int32(IN_DELETE))
    }

    private let loop: EventLoop
    private let descriptor: Descriptor
    private let handler: (Event) -> Void

    /// - Throws: ``SystemFailure`` if the folder cannot be watched.
    package init(
        _ folder: String, _ changes: Changes, loop: EventLoop, handler: @escaping (Event) -> Void
    ) throws(SystemFailure) {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { throw SystemFailure("inotify", errno) }
        (self.loop, self.handler, descriptor) = (loop, handler, Descriptor(owning: number))
        let events = changes.rawValue | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
        guard inotify_add_watch(number, folder, events) >= 0 else { throw SystemFailure(folder, errno) }
        loop.watch(number) { [weak self] _ in self?.read() }
    }

    deinit { loop.unwatch(descriptor.number) }

    /// Reads pending events. An `inotify_event` has 16 bytes, followed by a zero-padded name.
    private func read() {
        var events: [Event] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor.number, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            var offset = 0
            while offset + 16 <= count {
                let (mask, length) = buffer.withUnsafeBytes {
                    (
                        $0.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
                        Int($0.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    )
                }
                events.append(Self.event(mask, buffer[(offset + 16)..<min(offset + 16 + length, count)]))
                offset += 16 + length
            }
        }
        // The handler may release the watch.
        let handler = handler
        for event in events { handler(event) }
    }

    private static func event(_ mask: UInt32, _ name: ArraySlice<UInt8>) -> Event {
        if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { return .removed }
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .overflow }
        return .entry(Array(name.prefix { $0 != 0 }))
    }
}
