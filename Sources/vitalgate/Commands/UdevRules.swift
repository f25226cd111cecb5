import Profiles

/// The udev rules for plugs that belong to a single device. They set a stable name and permissions for the hub and the local user,
/// and start the hub. Generic adapters have no rules and are adopted by their serial path.
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

    /// The rule of a plug. A plug without a serial number is named after its USB port. ModemManager must not send commands to a
    /// meter.
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
