/// The time limits of a connection, in one place.
struct ConnectionLimits: Sendable {
    /// BlueZ itself gives up after about 41 s; past this it is stuck.
    var connect: Duration = .seconds(60)
    var resolve: Duration = .seconds(30)
    /// For each request: BlueZ waits 30 s for an ATT answer (Core specification, vol 3, part F, 3.3.3).
    var step: Duration = .seconds(35)
    /// Between a failure of the moment and its repetition.
    var pause: Duration = .seconds(1)
    /// How long a device may be asked before a person is told that it is slow.
    var patience: Duration = .seconds(15)
    var repeats = 3
    var backOff: Duration = .seconds(1)
    var longestBackOff: Duration = .seconds(300)
    /// How long an advertisement means that the device is there.
    var seenFor: Duration = .seconds(60)
    /// No link is called silent sooner.
    var silence: Duration = .seconds(5)
    var longestSilence: Duration = .seconds(600)
    var authenticationRetries = 2
}

/// What is done after the services are known, and in which order.
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
        // What a profile lists may be optional in its service; a device that has nothing of it is another matter.
        return (steps, subscriptions.isEmpty ? wanted : [])
    }
}

extension ConnectionMachine.Step {
    /// Whether it need not be done again on the same link when only these characteristics are where they were.
    func stands(on kept: Set<CharacteristicName>, of description: DeviceDescription) -> Bool {
        switch self {
        case .information: true
        case .read(let name), .subscribe(let name), .unsubscribe(let name): kept.contains(name)
        case .write(let write): kept.contains(write.name)
        case .converse: false
        case .readClock, .setClock: description.clock.map { kept.contains($0.name) } ?? true
        case .collect, .commit: description.recordAccess.map { kept.isSuperset(of: [$0.measurement, $0.controlPoint]) } ?? true
        }
    }
}
