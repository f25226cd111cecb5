import EventLoopKit
import HealthModel
import SystemdKit

/// The steps of a connection. Each ends with one `finished` event.
extension DeviceSession {
    func perform(_ step: ConnectionMachine.Step) {
        switch step {
        case .information: readInformation(DeviceInformation.fields[...])
        case .readClock: readClock()
        case .read(let name):
            read(name, in: step) { session, value in session.readAnswer(name, value) }
        case .subscribe(let name): subscribe(name)
        case .unsubscribe(let name): unsubscribe(name)
        case .write(let write): begin(write)
        case .converse: converse()
        case .collect: collect()
        case .commit: host.commit(self)
        case .setClock: setClock()
        }
    }

    /// Ends the step, unless its link is gone.
    private func finish(_ step: ConnectionMachine.Step, _ generation: Int, _ error: BusError?) {
        guard generation == self.generation else { return }
        if let error { host.delegate?.didReceive(SourceNotice(.detail, address.description, "\(step) failed: \(error.name)")) }
        handle(.finished(step, error.map { .failed(LinkFailure($0)) } ?? .done))
    }

    private func read(
        _ name: CharacteristicName, in step: ConnectionMachine.Step, then use: @escaping (DeviceSession, [UInt8]) -> Void
    ) {
        guard let characteristic = table.characteristics[name] else { return handle(.finished(step, .failed(.stale))) }
        let generation = generation
        echoes.begin(name)
        host.bus.call(.characteristic(characteristic.path, "ReadValue"), [.options([:])], timeout: host.configuration.limits.step)
        {
            [weak self] answer in
            guard let self, generation == self.generation else { return }
            let value = (try? answer.get())?.first?.bytes
            if let remaining = echoes.end(name, value, at: loop.clock.uptime) { notified(name, remaining) }
            if let value { use(self, value) }
            finish(step, generation, answer.failure)
        }
    }

    private func readInformation(_ fields: ArraySlice<BluetoothUUID>) {
        let rest = fields.drop {
            reportedServices.contains($0)
                || table.characteristics[CharacteristicName(ConnectionPlan.deviceInformation, $0)] == nil
        }
        guard let field = rest.first,
            let characteristic = table.characteristics[CharacteristicName(ConnectionPlan.deviceInformation, field)]
        else { return informationRead() }
        let generation = generation
        host.bus.call(.characteristic(characteristic.path, "ReadValue"), [.options([:])], timeout: host.configuration.limits.step)
        {
            [weak self] answer in
            guard let self, generation == self.generation else { return }
            switch answer {
            case .success(let values):
                if let value = values.first?.bytes { information.add(field, value) }
                reportedServices.insert(field)
            case .failure(let error):
                // An unreadable field counts as absent, but a link failure does not.
                let failure = LinkFailure(error)
                guard failure == .other || failure == .stale else { return finish(.information, generation, error) }
            }
            handle(.progress(.information))
            readInformation(rest.dropFirst())
        }
    }

    private func informationRead() {
        let properties = path.flatMap { host.tree[path: $0, interface: BlueZ.device] } ?? [:]
        memory.device = information.device(
            name: properties["Name"]?.text, address: address, addressIsDurable: hasDurableAddress, profile: description.profile)
        // Earlier frames belong to the same device, so keep their key. Another hub may know the device by its serial number.
        if let firstKey, hasDurableAddress { memory.device?.key = firstKey }
        host.delegate?.remember(memory, for: address)
        handle(.finished(.information, .done))
    }

    // MARK: The clock

    private func readClock() {
        guard let clock = description.clock else { return handle(.finished(.readClock, .done)) }
        read(clock.name, in: .readClock) { session, value in
            let now = session.loop.clock.now
            guard let shown = DeviceTime.read(value, layout: clock.layout) else { return }
            let evidence = ClockEvidence(shown: shown, received: now, expected: session.host.configuration.wallTime(now))
            session.evidence = evidence
            session.host.delegate?.learned(evidence, for: session.address)
        }
    }

    private func setClock() {
        // A correct clock is not set, because each write is a risk, and some devices beep.
        guard let clock = description.clock, let characteristic = table.characteristics[clock.name],
            evidence.map({ abs($0.ahead) > 2_000_000 }) ?? true
        else { return handle(.finished(.setClock, .done)) }
        let bytes = DeviceTime.bytes(host.configuration.wallTime(loop.clock.now), layout: clock.layout)
        let generation = generation
        write(characteristic.path, bytes) { [weak self] error in
            guard let self else { return }
            if error == nil, generation == self.generation {
                // From now on the device's times follow the new clock.
                let now = loop.clock.now
                let right = host.configuration.wallTime(now)
                host.delegate?.learned(ClockEvidence(shown: right, received: now, expected: right), for: address)
            }
            finish(.setClock, generation, error)
        }
    }

    func write(_ path: String, _ bytes: [UInt8], completion: @escaping (BusError?) -> Void) {
        host.bus.call(
            .characteristic(path, "WriteValue"), [.bytes(bytes), .options(["type": .string("request")])],
            timeout: host.configuration.limits.step
        ) { completion($0.failure) }
    }

    /// Writes in the mode that the characteristic allows. Some accept only writes without a response (org.bluez.GattCharacteristic1,
    /// WriteValue).
    private func begin(_ write: OpeningWrite) {
        guard let characteristic = table.characteristics[write.name] else {
            return handle(.finished(.write(write), .failed(.stale)))
        }
        let generation = generation
        host.bus.call(
            .characteristic(characteristic.path, "WriteValue"), [.bytes(write.bytes), .options([:])],
            timeout: host.configuration.limits.step
        ) { [weak self] answer in self?.finish(.write(write), generation, answer.failure) }
    }

    // MARK: Notifications

    private func subscribe(_ name: CharacteristicName) {
        // The characteristic is moving to another path. It is enabled when it appears, or reported as missing.
        if lost.contains(name) { return handle(.servicesLost) }
        guard let characteristic = table.characteristics[name] else {
            return handle(.finished(.subscribe(name), .failed(.stale)))
        }
        // Records and their responses arrive in order on D-Bus. Two descriptors would lose that order.
        let access = description.recordAccess
        let isOfRecords = access.map { [$0.measurement, $0.controlPoint].contains(name) || $0.context == name } ?? false
        if characteristic.offersDescriptor, !isOfRecords {
            acquire(name, characteristic.path)
        } else {
            startNotify(name, characteristic.path)
        }
    }

    private func startNotify(_ name: CharacteristicName, _ path: String) {
        let generation = generation
        host.bus.call(.characteristic(path, "StartNotify"), timeout: host.configuration.limits.step) { [weak self] answer in
            self?.finish(.subscribe(name), generation, answer.failure)
        }
    }

    private func acquire(_ name: CharacteristicName, _ path: String) {
        let generation = generation
        host.bus.call(.characteristic(path, "AcquireNotify"), [.options([:])], timeout: host.configuration.limits.step) {
            [weak self] answer in
            guard let self, generation == self.generation else { return }
            guard case .success(let values) = answer, case .descriptor(let descriptor)? = values.first else {
                let failure = answer.failure.map { LinkFailure($0) }
                // The descriptor is not available or another program has acquired it. D-Bus signals can be shared.
                if failure == nil || failure == .stale || failure == .other
                    || answer.failure?.name == "org.bluez.Error.NotPermitted"
                {
                    return startNotify(name, path)
                }
                return finish(.subscribe(name), generation, answer.failure)
            }
            pipes[name] = NotificationPipe(
                descriptor, loop: loop, maximum: values.dropFirst().first?.integer.map { Int($0) } ?? 517
            ) { [weak self] value in
                guard let self, pipes[name] != nil else { return }
                guard let value else {
                    pipes[name] = nil
                    return
                }
                notified(name, value)
            }
            finish(.subscribe(name), generation, nil)
        }
    }

    private func unsubscribe(_ name: CharacteristicName) {
        // BlueZ stops notifying when the descriptor is closed (org.bluez.GattCharacteristic1, AcquireNotify).
        if pipes.removeValue(forKey: name) != nil { return handle(.finished(.unsubscribe(name), .done)) }
        guard let characteristic = table.characteristics[name] else { return handle(.finished(.unsubscribe(name), .done)) }
        let generation = generation
        host.bus.call(.characteristic(characteristic.path, "StopNotify"), timeout: host.configuration.limits.step) {
            [weak self] answer in
            // "No notify session started" is the wanted result. Only a lost link is a failure here.
            let failure = answer.failure.map { LinkFailure($0) }
            let isFatal = failure == .noAnswer || failure == .notConnected || failure == .unknownObject
            self?.finish(.unsubscribe(name), generation, isFatal ? answer.failure : nil)
        }
    }

    // MARK: Stored records

    private func collect() {
        guard let description = description.recordAccess else { return handle(.finished(.collect, .done)) }
        handOnLoose()
        records = RecordAccess(description, from: memory.records)
        recordEvent(.start)
    }

    func recordEvent(_ event: RecordAccess.Event) {
        guard let commands = records?.handle(event, at: loop.clock.uptime) else { return }
        recordTimer?.cancel()
        recordTimer = records?.deadline.map { deadline in
            loop.after(max(.zero, deadline - loop.clock.uptime)) { [weak self] in self?.recordEvent(.tick) }
        }
        for command in commands { carryOut(command) }
    }

    private func carryOut(_ command: RecordAccess.Command) {
        switch command {
        case .write(let bytes):
            guard let access = description.recordAccess, let path = table.characteristics[access.controlPoint]?.path else {
                return
            }
            let generation = generation
            write(path, bytes) { [weak self] error in
                guard let self, generation == self.generation else { return }
                recordEvent(error.map { .writeFailed(LinkFailure($0)) } ?? .written)
            }
        case .deliver(let measurement, let context):
            guard let access = description.recordAccess else { return }
            // The context comes first, so that it is known when the measurement becomes a sample.
            let hasContext = context != nil
            if let context, let name = access.context { deliver("gatt:\(name.characteristic)", context) }
            deliver("gatt:\(access.measurement.characteristic)", measurement, continues: hasContext)
        case .deliverContext(let context):
            guard let name = description.recordAccess?.context else { return }
            deliver("gatt:\(name.characteristic)", context)
        case .commit(let cursor):
            pendingCursor = cursor
            handle(.finished(.collect, .done))
        case .end(let ending): ended(ending)
        }
    }

    private func ended(_ ending: RecordAccess.Ending) {
        records = nil
        recordTimer?.cancel()
        switch ending {
        case .complete(let records):
            host.delegate?.didReceive(SourceNotice(.information, address.description, "stored records collected: \(records)"))
        case .incomplete(let reason):
            pendingCursor = memory.records
            host.delegate?.didReceive(
                SourceNotice(
                    .warning, address.description,
                    "not all stored records were collected (\(reason)): the rest follows the next time"))
            handle(.finished(.collect, .failed(.other)))
        }
    }

    /// Called when the caller has committed.
    func committed() {
        pendingToken = nil
        // Everything passed on is durable, whichever part requested the commit.
        let hadConversation = committedConversation()
        guard machine.state == .working(.commit) || !hadConversation else { return }
        memory.records = pendingCursor
        if records != nil { recordEvent(.committed) }
        handle(.finished(.commit, .done))
    }
}
