import Glibc

/// Identifies a process uniquely over time: its number, its start time and the boot.
package enum ProcessIdentity {
    package static func current() -> String { name(of: getpid()) ?? "\(getpid())" }

    /// Returns `number start boot`, or `nil` if there is no such process.
    private static func name(of process: pid_t) -> String? {
        guard let status = SmallFile.read("/proc/\(process)/stat", limit: 65_536) else { return nil }
        // proc(5): the command in parentheses may contain anything. The start time is the 20th field after it.
        guard let end = status.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = status[(end + 1)...].split(separator: UInt8(ascii: " "))
        // A zombie has ended and only waits for its parent.
        guard fields.count > 19, fields[0].first != UInt8(ascii: "Z") else { return nil }
        let boot = SmallFile.read("/proc/sys/kernel/random/boot_id", limit: 256) ?? []
        let text = { (bytes: ArraySlice<UInt8>) in String(decoding: bytes, as: UTF8.self) }
        return "\(process) \(text(fields[19])) \(text(boot.filter { $0 > 0x20 }[...]))"
    }
}
