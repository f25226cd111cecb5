import Glibc
import Pipeline

/// The user who calls bluetoothd, and their membership in the group that Debian's policy allows.
package struct BusUser: Hashable, Sendable {
    /// The user's membership in the group `bluetooth`.
    package enum Membership: Hashable, Sendable {
        case member
        /// The account is in the group, but the process is not. The user must log in again.
        case afterLogin
        /// Neither the process nor the account is in the group, or it does not exist.
        case none
    }

    /// The account's name, or its number if it has no name.
    package var name: String
    /// The membership in the group `bluetooth`.
    package var membership: Membership

    package static func current() -> BusUser {
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

    /// The finding for a refusal by the policy of D-Bus.
    var refusal: Finding {
        let text = "its policy does not allow \(name) to use bluetoothd"
        return switch membership {
        case .none:
            Finding(.broken, "D-Bus", text, command: "sudo usermod -aG bluetooth \(name)  # then log in again")
        case .afterLogin:
            Finding(
                .broken, "D-Bus", text + ": \(name) joins the group bluetooth at the next login",
                command: "newgrp bluetooth")
        case .member:
            Finding(
                .broken, "D-Bus", text + ", although \(name) is in the group bluetooth",
                command: "cat /etc/dbus-1/system.d/bluetooth.conf /usr/share/dbus-1/system.d/bluetooth.conf")
        }
    }
}
