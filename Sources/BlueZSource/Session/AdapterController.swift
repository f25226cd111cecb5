import EventLoopKit
import SystemdKit

/// One adapter: its power, its discovery, its queue of connections, and its recovery.
final class AdapterController {
    let path: String
    private(set) var recovery = Recovery()
    private unowned let source: BlueZSource
    private var discovery = DiscoveryMachine()
    private var timer: EventLoop.Timer?
    private var queue: [DeviceSession] = []
    private var current: DeviceSession?
    private var cycling = false
    private var didReportPowerOff = false

    /// - Parameter source: the owner, which removes this object together with the adapter.
    init(path: String, source: BlueZSource) {
        self.path = path
        self.source = source
    }

    private var properties: ObjectTree.Properties { source.tree[path: path, interface: BlueZ.adapter] ?? [:] }
    private var isPowered: Bool { properties["Powered"]?.truth ?? false }
    private var component: String { properties["Address"]?.text ?? path }
    private var loop: EventLoop { source.bus.loop }

    func start() {
        if isPowered { handle(.discovering(properties["Discovering"]?.truth ?? false)) } else { power() }
    }

    func stop() {
        timer?.cancel()
        queue.removeAll()
        current = nil
    }

    /// Switches the adapter on again, once. An adapter that a user switches off later stays off (`doctor` checks rfkill).
    private func power() {
        guard source.configuration.powersAdapters, !cycling else { return }
        source.bus.set(path, BlueZ.adapter, "Powered", .boolean(true)) { [weak self] answer in
            guard let self, let error = answer.failure, !didReportPowerOff else { return }
            didReportPowerOff = true
            source.notify(
                .action, component, "the adapter is off and cannot be switched on (\(error.name)): run `vitalgate doctor`")
        }
    }

    func changed(_ names: Set<String>) {
        if names.contains("Powered") {
            if isPowered {
                didReportPowerOff = false
                want(source.filter())
            } else {
                handle(.lost)
                if !cycling, !didReportPowerOff {
                    didReportPowerOff = true
                    source.notify(
                        .warning, component, "the adapter was switched off: no readings are received until it is on again")
                }
            }
        }
        if names.contains("Discovering") { handle(.discovering(properties["Discovering"]?.truth ?? false)) }
    }

    func want(_ filter: DiscoveryFilter?) { handle(.want(isPowered ? filter : nil)) }

    // MARK: Discovery

    private func handle(_ event: DiscoveryMachine.Event) {
        let commands = discovery.handle(event, at: loop.clock.uptime)
        for command in commands { carryOut(command) }
        timer?.cancel()
        timer = discovery.deadline.map { deadline in
            loop.after(max(.zero, deadline - loop.clock.uptime)) { [weak self] in self?.handle(.tick) }
        }
    }

    private func carryOut(_ command: DiscoveryMachine.Command) {
        switch command {
        case .configure(let filter): call("SetDiscoveryFilter", [filter.options], .configure)
        case .start: call("StartDiscovery", [], .start)
        case .stop: call("StopDiscovery", [], .stop)
        case .observe(let observation): observed(observation, about: component)
        }
    }

    private func call(_ member: String, _ arguments: [BusValue], _ call: DiscoveryMachine.Call) {
        source.bus.call(.adapter(path, member), arguments) { [weak self] answer in
            guard let self else { return }
            if let error = answer.failure { source.notify(.detail, component, "\(member) failed: \(error.name)") }
            handle(.answered(call, answer.failure.map { LinkFailure($0) }))
        }
    }

    // MARK: Turns

    func requestTurn(_ session: DeviceSession) {
        guard !queue.contains(where: { $0 === session }), current !== session else { return }
        queue.append(session)
        // Later, so that a session does not get its turn while it is still requesting it.
        loop.after(.zero) { [weak self] in self?.giveTurn() }
    }

    func releaseTurn(_ session: DeviceSession) {
        queue.removeAll { $0 === session }
        guard current === session else { return }
        current = nil
        loop.after(.zero) { [weak self] in self?.giveTurn() }
    }

    private func giveTurn() {
        guard current == nil, !queue.isEmpty else { return }
        let session = queue.removeFirst()
        current = session
        session.handle(.turn)
    }

    // MARK: Recovery

    func observed(_ observation: Recovery.Observation, about component: String) {
        guard let decision = recovery.note(observation, at: loop.clock.uptime) else { return }
        let weight: SourceNotice.Weight = decision.isOurs ? .warning : .information
        source.notify(weight, component, "\(decision.reason) (\(decision.layer.rawValue) is stuck): \(decision.action.text)")
        switch decision.action {
        case .resubscribe, .reconnect: break
        case .restartDiscovery: handle(.restart)
        case .powerCycle: powerCycle()
        case .notifyUser:
            source.notify(
                .action, "bluetoothd",
                "it does not recover by itself: run `sudo systemctl restart bluetooth`, then `vitalgate doctor`")
        }
    }

    private func powerCycle() {
        cycling = true
        source.bus.set(path, BlueZ.adapter, "Powered", .boolean(false)) { [weak self] answer in
            guard let self else { return }
            let failed = answer.failure != nil
            // The controller needs a moment to reset.
            loop.after(.seconds(2)) { [weak self] in
                guard let self else { return }
                source.bus.set(path, BlueZ.adapter, "Powered", .boolean(true)) { [weak self] answer in
                    guard let self else { return }
                    cycling = false
                    observed(.carriedOut(.powerCycle, succeeded: !failed && answer.failure == nil), about: component)
                    want(source.filter())
                }
            }
        }
    }
}

extension DiscoveryFilter {
    var options: BusValue {
        var options: [String: BusValue] = ["Transport": .string("le"), "DuplicateData": .boolean(duplicates)]
        if !services.isEmpty { options["UUIDs"] = .array(of: "s", services.map { .string($0.text) }) }
        return .options(options)
    }
}

extension Recovery.Action {
    var text: String {
        switch self {
        case .resubscribe: "enabling its notifications again"
        case .reconnect: "reconnecting"
        case .restartDiscovery: "restarting discovery"
        case .powerCycle: "switching the adapter off and on"
        case .notifyUser: "no further recovery is possible"
        }
    }
}
