import EventLoopKit

/// The device's services: discovered when the link comes up, and moved during the link (Service Changed, 2A05).
extension DeviceSession {
    func resolve() {
        rearrangement?.cancel()
        let lostServices = lost
        lost = []
        // A link that is being closed needs no plan, and its last values still arrive.
        guard machine.state != .leaving, let path, host.tree[path: path, interface: BlueZ.device] != nil else { return }
        let found = GattTable(of: path, in: host.tree)
        let unchangedNames = found.unchangedNames(from: table)
        if hasServices, lostServices.isEmpty, found.characteristics.keys.filter(isUsed).allSatisfy(unchangedNames.contains),
            table.characteristics.keys.filter(isUsed).allSatisfy(unchangedNames.contains)
        {
            // The services were only repeated, or only unused ones moved. Starting over would lose pending data.
            table = found
            return handOnEarly(isKnown: true)
        }
        generation += 1
        records = nil
        recordTimer?.cancel()
        for name in pipes.keys where !unchangedNames.contains(name) { endPipe(name) }
        table = found
        beginConversation()
        handle(.resolved(Set(found.characteristics.keys), unchanged: unchangedNames))
        handOnEarly(isKnown: true)
    }

    /// Handles another characteristic or a report that the services are known. On a live link BlueZ may not report that, the objects appear
    /// one by one, and reading a moved service from the device takes seconds.
    func servicesChanged() {
        guard let path, hasServices else { return resolve() }
        let isWhole = lost.isSubset(of: GattTable(of: path, in: host.tree).characteristics.keys)
        let limits = host.configuration.limits
        rearrangement?.cancel()
        if !isWhole { handle(.servicesLost) }
        rearrangement = loop.after(isWhole ? limits.pause : limits.resolve) { [weak self] in self?.resolve() }
    }

    func characteristicAdded() {
        if hasServices || machine.hasMoved { servicesChanged() }
    }

    /// Handles a characteristic that BlueZ removed, with its subscription. Another may appear at the same path.
    func characteristicRemoved(_ path: String) {
        guard hasServices else { return }
        if let name = table.remove(path) {
            endPipe(name)
            if isUsed(name) { lost.insert(name) }
        }
        servicesChanged()
    }

    /// Drops BlueZ's table. BlueZ reads it again when it discovers the device again.
    func dropCache() {
        guard let path, let adapter = host.tree[path: path, interface: BlueZ.device]?["Adapter"]?.text else { return }
        host.delegate?.didReceive(
            SourceNotice(
                .information, address.description, "BlueZ's cached table of its services is wrong, and BlueZ reads it again"))
        host.bus.call(.adapter(adapter, "RemoveDevice"), [.path(path)]) { [weak self] answer in
            guard let self, answer.failure != nil, self.path == path else { return }
            host.bus.call(.device(path, "Disconnect"))
        }
    }

    /// Passes on the remaining values and closes the pipe.
    private func endPipe(_ name: CharacteristicName) {
        pipes[name]?.drain()
        pipes[name] = nil
    }

    /// Whether the services of a live link are known.
    private var hasServices: Bool {
        switch machine.state {
        case .working, .live: true
        case .stopped, .idle, .waiting, .queued, .connecting, .resolving, .leaving, .blocked: false
        }
    }

    private func isUsed(_ name: CharacteristicName) -> Bool {
        isWanted(name) || description.reads.contains(name) || description.clock?.name == name
            || (name.service == ConnectionPlan.deviceInformation && !machine.informationKnown)
    }
}
