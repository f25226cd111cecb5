import SystemdKit

/// The hub's pairing agent (org.bluez.Agent1), registered as long as the source runs.
///
/// If no agent is registered, BlueZ leaves an operation that needs a bond unanswered until the link breaks, about 30 s later. So there is
/// always one. It accepts only the device that the user is pairing and refuses all others at once. Otherwise another device could take over
/// a device's address (DESIGN, promise 9).
final class PairingAgent {
    private let bus: SystemBus
    /// The path of the device that the user is pairing.
    var device: String?
    /// The dialogue with the user, if there is one. The agent's capability depends on it and is sent with the only registration. After the
    /// last agent is gone, BlueZ disables bonding some time later, so a bond made right after that would not last.
    weak var dialogue: (any PairingDialogue)?
    private var export: BusExport?
    /// Returns the owner of BlueZ's bus name. Calls from other senders are refused.
    private let daemon: () -> String

    private static let path = "/org/vitalgate/agent"
    private static let rejected = BusError("org.bluez.Error.Rejected", "not this device")
    private static let canceled = BusError("org.bluez.Error.Canceled", "given up")
    private static let accessDenied = BusError("org.freedesktop.DBus.Error.AccessDenied", "only BlueZ asks here")

    init(bus: SystemBus, daemon: @escaping () -> String) {
        self.bus = bus
        self.daemon = daemon
    }

    /// Registers the agent. Call it after each start of the daemon.
    func register() {
        export = bus.export(Self.path) { [weak self] in self?.answer($0) }
        let capability = dialogue == nil ? "NoInputNoOutput" : "KeyboardDisplay"
        bus.call(.agentManager("RegisterAgent"), [.path(Self.path), .string(capability)])
    }

    private func answer(_ call: IncomingCall) {
        guard call.sender == daemon() else { return call.fail(Self.accessDenied) }
        guard call.interface == BlueZ.agent else {
            return call.fail(BusError("org.freedesktop.DBus.Error.UnknownInterface"))
        }
        if call.member == "Release" || call.member == "Cancel" { return call.reply() }
        guard let asking = call.arguments.first?.text, asking == device else { return call.fail(Self.rejected) }
        let person = dialogue
        let address = String(asking.suffix(17).map { $0 == "_" ? ":" : $0 })
        let passkey = call.arguments.dropFirst().first?.integer.flatMap { UInt32(exactly: $0) }
        switch call.member {
        case "RequestAuthorization", "AuthorizeService": call.reply()
        case "RequestPasskey":
            guard let person else { return call.fail(Self.rejected) }
            person.enterPasskey(for: address) { number in
                if let number { call.reply([.uint32(number)]) } else { call.fail(Self.canceled) }
            }
        case "DisplayPasskey":
            if let passkey { person?.showPasskey(passkey, for: address) }
            call.reply()
        case "RequestConfirmation":
            guard let passkey else { return call.fail(Self.rejected) }
            // Without a display there is nothing to compare: "just works".
            guard let person else { return call.reply() }
            person.confirmPasskey(passkey, for: address) { same in
                if same { call.reply() } else { call.fail(Self.rejected) }
            }
        // PIN codes belong to BR/EDR.
        default: call.fail(Self.rejected)
        }
    }
}
