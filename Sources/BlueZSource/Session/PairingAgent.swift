/// Our side of pairings (org.bluez.Agent1), as long as the source runs.
///
/// Where no agent is registered BlueZ leaves an operation that needs a bond without an answer until the link breaks, about 30 s later.
/// So there is always one; it agrees for the device that a person is pairing, as long as that lasts, and refuses all others at once:
/// whoever speaks first under a device's address must not become that device (DESIGN, promise 9).
final class PairingAgent {
    private let bus: SystemBus
    /// The device that a person is pairing.
    var device: String?
    /// The person, where there is one. What the agent can do is told when it registers, and it registers once: where the last agent goes BlueZ
    /// switches bonding off, some time later, so that a bond made right after that would not last.
    weak var dialogue: (any PairingDialogue)?
    private var export: BusExport?
    /// Who owns BlueZ's name on the bus: nobody else has anything to ask here.
    private let daemon: () -> String

    private static let path = "/org/vitalgate/agent"
    private static let rejected = BusError("org.bluez.Error.Rejected", "not this device")
    private static let canceled = BusError("org.bluez.Error.Canceled", "given up")
    private static let stranger = BusError("org.freedesktop.DBus.Error.AccessDenied", "only BlueZ asks here")

    init(bus: SystemBus, daemon: @escaping () -> String) {
        self.bus = bus
        self.daemon = daemon
    }

    /// After each start of the daemon.
    func register() {
        export = bus.export(Self.path) { [weak self] in self?.answer($0) }
        let capability = dialogue == nil ? "NoInputNoOutput" : "KeyboardDisplay"
        bus.call(.agentManager("RegisterAgent"), [.path(Self.path), .string(capability)])
    }

    private func answer(_ call: IncomingCall) {
        guard call.sender == daemon() else { return call.fail(Self.stranger) }
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
            // Without a display nothing can be compared: this is "just works".
            guard let person else { return call.reply() }
            person.confirmPasskey(passkey, for: address) { same in
                if same { call.reply() } else { call.fail(Self.rejected) }
            }
        // PIN codes belong to BR/EDR.
        default: call.fail(Self.rejected)
        }
    }
}
