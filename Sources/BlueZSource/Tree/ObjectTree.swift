import EventLoopKit
import SystemdKit

/// A mirror of a service's objects. They are read once, then updated by signals, never polled (D-Bus specification, ObjectManager).
///
/// When the service goes away the tree becomes empty. When it comes back the tree is filled again (story 4).
package final class ObjectTree {
    /// The properties of one interface by name. Values have no variants around them.
    package typealias Properties = [String: BusValue]

    /// A change of the tree. It is reported after the tree has changed.
    package enum Change: Equatable {
        /// The service answered, and the tree contains its objects.
        case filled
        /// The service or the bus is gone, and all objects with it.
        case emptied
        /// The object gained this interface. Not reported for the objects of ``filled``.
        case added(path: String, interface: String)
        /// The object lost this interface. Without any interface it is gone. Not reported for ``emptied``.
        case removed(path: String, interface: String)
        /// These properties have changed, were sent again, or are unknown now.
        case changed(path: String, interface: String, properties: Set<String>)
        /// The service exists but did not return its objects.
        case refused(BusError)
        /// The service has more objects than are kept.
        case full
    }

    /// The objects by path, then by interface, such as `org.bluez.Device1`. Empty until the service has answered.
    package private(set) var objects: [String: [String: Properties]] = [:]
    /// Whether the service has returned its objects.
    package private(set) var isFilled = false
    /// Whether objects were omitted since the service last returned them.
    package private(set) var isFull = false
    /// Called for each change, on the loop's thread.
    package var onChange: ((Change) -> Void)?
    /// Returns the rank of an object with these interfaces, or nil if it has the rank of the object that contains it.
    var rank: ([String: Properties]) -> Rank? = { _ in nil }

    private var ranks: [String: Rank] = [:]
    private var counts: [Rank: Int] = [:]
    private let bus: SystemBus
    private let service: String
    private var subscriptions: [BusSubscription] = []
    /// The unique name of the service's owner.
    private(set) var owner = ""
    private var filling: BusCall?
    private var retry: EventLoop.Timer?

    /// Creates a tree that is empty before ``start()``.
    ///
    /// - Parameter service: the bus name of the service.
    package init(bus: SystemBus, service: String = "org.bluez") {
        self.bus = bus
        self.service = service
    }

    /// Returns one interface's properties, or nil if the object or the interface does not exist.
    package subscript(path path: String, interface interface: String) -> Properties? { objects[path]?[interface] }

    /// Starts the mirror. Call it after each connection of the bus.
    package func start() {
        stop()
        let rules: [(String, (BusSignal) -> Void)] = [
            (
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service)'",
                { [weak self] in self?.ownerChanged($0) }
            ),
            (
                "type='signal',sender='\(service)',interface='org.freedesktop.DBus.ObjectManager'",
                { [weak self] in self?.objectsChanged($0) }
            ),
            (
                "type='signal',sender='\(service)',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'",
                { [weak self] in self?.propertiesChanged($0) }
            ),
        ]
        subscriptions = rules.compactMap { bus.subscribe($0.0, handler: $0.1) }
        fill()
    }

    /// Stops the mirror. Call it when the bus is lost.
    package func stop() {
        subscriptions.removeAll()
        filling?.cancel()
        filling = nil
        retry?.cancel()
        empty()
    }

    private func empty() {
        guard isFilled else { return }
        isFilled = false
        removeAll()
        onChange?(.emptied)
    }

    private func removeAll() {
        objects.removeAll()
        ranks.removeAll()
        counts.removeAll()
        isFull = false
    }

    /// Reads all objects of the service, including omitted ones.
    func fill() {
        filling?.cancel()
        retry?.cancel()
        let method = BusMethod(service, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        filling = bus.ask(method) { [weak self] answer in
            guard let self else { return }
            filling = nil
            do throws(BusError) {
                try replace(with: answer.get())
            } catch {
                onChange?(.refused(error))
                // An owner change reports a service that starts. This retry is for a running one that refuses or is busy.
                retry = bus.loop.after(.seconds(30)) { [weak self] in self?.fill() }
            }
        }
    }

    private func replace(with answer: BusMessage) throws(BusError) {
        guard answer.signature == "a{oa{sa{sv}}}" else { throw .unexpected }
        removeAll()
        owner = answer.sender
        // Devices and adapters come first, because a service has the rank of its device.
        do throws(BusError) {
            for isPart in [false, true] { try read(answer, parts: isPart) }
        } catch {
            // An incomplete list is discarded.
            empty()
            throw error
        }
        isFilled = true
        onChange?(.filled)
        if isFull { onChange?(.full) }
    }

    private func read(_ answer: BusMessage, parts: Bool) throws(BusError) {
        let passed = try answer.readEntries { key, value in
            let interfaces = value.members.mapValues(\.members)
            guard let path = key.text, (rank(interfaces) == nil) == parts else { return }
            keep(path, interfaces)
        }
        if passed > 0 { isFull = true }
    }

    /// Stores the object with these interfaces. Returns whether it was kept.
    @discardableResult
    private func keep(_ path: String, _ interfaces: [String: Properties]) -> Bool {
        let all = (objects[path] ?? [:]).merging(interfaces) { $1 }
        var weight = path.utf8.count
        for properties in all.values { weight += properties.reduce(32) { $0 + $1.key.utf8.count + $1.value.weight } }
        guard weight < Self.heaviest, takesIn(path, interfaces) else {
            leftOut()
            return false
        }
        objects[path] = all
        return true
    }

    private func takesIn(_ path: String, _ interfaces: [String: Properties]) -> Bool {
        guard ranks[path] == nil else { return true }
        let above = Self.paths(above: path).lazy.compactMap { self.ranks[$0] }.first { $0 != .adapter }
        let rank = rank(interfaces) ?? above ?? .other
        guard counts[rank, default: 0] < rank.limit else { return false }
        ranks[path] = rank
        counts[rank, default: 0] += 1
        return true
    }

    /// Updates the rank of an object. Its parts that are added later use the new rank.
    func updateRank(_ path: String) {
        guard let old = ranks[path], let interfaces = objects[path], let new = rank(interfaces), new != old,
            counts[new, default: 0] < new.limit
        else { return }
        ranks[path] = new
        counts[old, default: 0] -= 1
        counts[new, default: 0] += 1
    }

    private func leftOut() {
        isFull = true
        if isFilled { onChange?(.full) }
    }

    /// Whether a signal comes from the service. Any process can send a signal to this program's address, regardless of the rule. sd-bus
    /// does not compare unique names with well-known ones (sd_bus_add_match(3) leaves that to the bus, which does it for broadcasts only).
    private func isOurs(_ signal: BusSignal) -> Bool { isFilled && signal.sender == owner }

    private func ownerChanged(_ signal: BusSignal) {
        guard signal.sender == "org.freedesktop.DBus", signal.arguments.count == 3, let fresh = signal.arguments[2].text else {
            return
        }
        owner = fresh
        filling?.cancel()
        filling = nil
        empty()
        if !owner.isEmpty { fill() }
    }

    func objectsChanged(_ signal: BusSignal) {
        // Before the first answer there is nothing to change, because the answer is newer than these signals.
        guard isOurs(signal), signal.arguments.count == 2, let path = signal.arguments[0].text else { return }
        if signal.member == "InterfacesAdded" {
            let known = objects[path] ?? [:]
            let interfaces = signal.arguments[1].members.mapValues(\.members)
            guard !interfaces.isEmpty, keep(path, interfaces) else { return }
            for (interface, properties) in interfaces.sorted(by: { $0.key < $1.key }) {
                guard let before = known[interface] else {
                    onChange?(.added(path: path, interface: interface))
                    continue
                }
                // A repeated interface is not an arrival, but different properties are changes.
                let names = Set(before.keys).union(properties.keys).filter { before[$0] != properties[$0] }
                if !names.isEmpty { onChange?(.changed(path: path, interface: interface, properties: names)) }
            }
        } else if signal.member == "InterfacesRemoved" {
            for interface in signal.arguments[1].texts ?? [] {
                guard objects[path]?.removeValue(forKey: interface) != nil else { continue }
                if objects[path]?.isEmpty == true {
                    objects[path] = nil
                    if let rank = ranks.removeValue(forKey: path) { counts[rank, default: 0] -= 1 }
                }
                onChange?(.removed(path: path, interface: interface))
            }
        }
    }

    func propertiesChanged(_ signal: BusSignal) {
        guard isOurs(signal), signal.arguments.count == 3, let interface = signal.arguments[0].text,
            var properties = objects[signal.path]?[interface]
        else { return }
        let changed = signal.arguments[1].members
        let invalidated = signal.arguments[2].texts ?? []
        properties.merge(changed) { $1 }
        for name in invalidated { properties[name] = nil }
        guard keep(signal.path, [interface: properties]) else { return }
        onChange?(.changed(path: signal.path, interface: interface, properties: Set(changed.keys).union(invalidated)))
    }
}
