import Glibc
import Pipeline

/// Who asks bluetoothd, and whether the group that Debian's policy lets in has him.
public struct BusUser: Hashable, Sendable {
    /// What the system says of the user and the group `bluetooth`.
    public enum Membership: Hashable, Sendable {
        /// The process has the group.
        case member
        /// The account is in the group since it logged in; the process is not.
        case afterLogin
        /// Neither the process nor the account is in it, or there is no such group.
        case none
    }

    /// The account's name; its number where it has no name.
    public var name: String
    /// In the group `bluetooth`.
    public var membership: Membership

    /// Tests have their own; the program asks ``current()``.
    public init(name: String, membership: Membership) {
        self.name = name
        self.membership = membership
    }

    /// The user that this process acts as (its effective user).
    public static func current() -> BusUser {
        let name = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
        guard let group = getgrnam("bluetooth")?.pointee else { return BusUser(name: name, membership: .none) }
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = Int(getgroups(Int32(groups.count), &groups))
        if getegid() == group.gr_gid || groups.prefix(max(0, count)).contains(group.gr_gid) {
            return BusUser(name: name, membership: .member)
        }
        var member = group.gr_mem
        while let text = member?.pointee {
            if String(cString: text) == name { return BusUser(name: name, membership: .afterLogin) }
            member = member?.advanced(by: 1)
        }
        return BusUser(name: name, membership: .none)
    }

    /// What to do where the policy of D-Bus refuses.
    var refusal: Finding {
        let text = "its policy does not let \(name) speak to bluetoothd"
        return switch membership {
        case .none:
            Finding(.broken, "D-Bus", text, command: "sudo usermod -aG bluetooth \(name)  # then log in again")
        case .afterLogin:
            Finding(
                .broken, "D-Bus", text + ": the group bluetooth has \(name) only after the next login",
                command: "newgrp bluetooth")
        case .member:
            Finding(
                .broken, "D-Bus", text + ", though the group bluetooth has \(name)",
                command: "cat /etc/dbus-1/system.d/bluetooth.conf /usr/share/dbus-1/system.d/bluetooth.conf")
        }
    }
}
