import Profiles

/// The udev rules for plugs that one device alone has: a name that stays, permission for the hub and for who sits at the machine, and a
/// hub that starts. Adapters that devices of all kinds have are left alone: they are adopted by their serial path.
struct UdevRules {
    private let plugs: [(plug: USBMatch, profile: String)]

    init(profiles: [Profile]) {
        plugs = profiles.flatMap { profile in profile.match.usb.filter { !$0.isShared }.map { ($0, profile.id) } }
    }

    var text: String {
        """
        # Made by scripts/generate from the USB ids of the device profiles.
        ACTION=="remove", GOTO="vitalgate_end"
        SUBSYSTEM!="tty", GOTO="vitalgate_end"
        ENV{ID_BUS}!="usb", GOTO="vitalgate_end"


        """ + plugs.map(rule).joined() + "\nLABEL=\"vitalgate_end\"\n"
    }

    /// A plug without a serial number goes by the socket it is in. ModemManager must not try its commands on a meter.
    private func rule(_ plug: USBMatch, _ profile: String) -> String {
        let match = "ENV{ID_VENDOR_ID}==\"\(plug.vendor)\", ENV{ID_MODEL_ID}==\"\(plug.product)\""
        return """
            \(match), ENV{ID_SERIAL_SHORT}=="?*", SYMLINK+="vitalgate/\(profile)-$env{ID_SERIAL_SHORT}"
            \(match), ENV{ID_SERIAL_SHORT}!="?*", SYMLINK+="vitalgate/\(profile)-$env{ID_PATH}"
            \(match), GROUP="dialout", MODE="0660", TAG+="uaccess", ENV{ID_MM_DEVICE_IGNORE}="1"
            \(match), TAG+="systemd", ENV{SYSTEMD_WANTS}+="vitalgate.service"

            """
    }
}
