struct ConnectionLimits: Sendable {
    /// BlueZ itself gives up after about 41 s. After this limit it is stuck.
    var connect: Duration = .seconds(60)
    var resolve: Duration = .seconds(30)
    /// The limit for each request. BlueZ waits 30 s for an ATT answer (Core specification, vol 3, part F, 3.3.3).
    var step: Duration = .seconds(35)
    /// The pause after a temporary failure.
    var pause: Duration = .seconds(1)
    /// The time after which a device is reported as slow.
    var timeout: Duration = .seconds(15)
    var repeats = 3
    var backOff: Duration = .seconds(1)
    var maximumBackOff: Duration = .seconds(300)
    /// The time for which an advertisement means that the device is in range.
    var seenFor: Duration = .seconds(60)
    /// The minimum time before a link counts as silent.
    var silence: Duration = .seconds(5)
    var maximumSilence: Duration = .seconds(600)
    var authenticationRetries = 2
}

/// The steps after the services are known, and their order.
enum ConnectionPlan {
    static let deviceInformation = BluetoothUUID(0x180A)

    static func steps(
        _ description: DeviceDescription, available: Set<CharacteristicName>, informationKnown: Bool,
        givenUp: Set<CharacteristicName> = []
    ) -> (steps: [ConnectionMachine.Step], missing: [CharacteristicName]) {
        let wanted = description.allSubscriptions
        let subscriptions = wanted.filter(available.contains)
        let enabling = subscriptions.map { ConnectionMachine.Step.subscribe($0) }
        var steps = description.isStream ? enabling : []
        if !informationKnown, available.contains(where: { $0.service == deviceInformation }) { steps.append(.information) }
        let clock = description.clock.flatMap { available.contains($0.name) ? $0 : nil }
        if clock != nil { steps.append(.readClock) }
        steps += description.reads.filter(available.contains).map { .read($0) }
        let besides = description.accompaniments.filter { available.contains($0) && !givenUp.contains($0) }
        steps += besides.map { .read($0) }
        if !description.isStream { steps += enabling }
        steps += besides.map { .subscribe($0) }
        steps += description.writes.filter { available.contains($0.name) }.map { .write($0) }
        if description.dialogue?.begin(available) != nil { steps.append(.converse) }
        let collects = description.recordAccess.map { available.contains($0.controlPoint) } ?? false
        if collects { steps += [.collect, .commit] }
        if let clock, clock.isSet { steps.append(.setClock) }
        // A profile's characteristics may be optional in its service. They count as missing only if the device has none of them.
        return (steps, subscriptions.isEmpty ? wanted : [])
    }
}

extension ConnectionMachine.Step {
    /// Whether the step stays done on the same link if only these characteristics are unchanged.
    func remainsDone(on unchanged: Set<CharacteristicName>, of description: DeviceDescription) -> Bool {
        switch self {
        case .information: true
        case .read(let name), .subscribe(let name), .unsubscribe(let name): unchanged.contains(name)
        case .write(let write): unchanged.contains(write.name)
        case .converse: false
        case .readClock, .setClock: description.clock.map { unchanged.contains($0.name) } ?? true
        case .collect, .commit:
            description.recordAccess.map { unchanged.isSuperset(of: [$0.measurement, $0.controlPoint]) } ?? true
        }
    }
}
