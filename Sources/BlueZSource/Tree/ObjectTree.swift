import EventLoopKit

/// The objects of a service, mirrored: read once, then kept by signals, never polled (D-Bus specification, ObjectManager).
///
/// When the service goes away the tree is empty; when it comes back it is filled anew (story 4).
public final class ObjectTree {
    /// The properties of one interface by name; values without the variants around them.
    public typealias Properties = [String: BusValue]

    /// What happened to the tree; it is told when the tree already shows it.
    public enum Change: Equatable {
        /// The service answers, and the tree is what it said.
        case filled
        /// The service, or the bus, is gone; so are all objects.
        case emptied
        /// The object has this interface now; not told for what ``filled`` brought.
        case added(path: String, interface: String)
        /// The object has lost this interface; without any left it is gone. Not told for what ``emptied`` takes.
        case removed(path: String, interface: String)
        /// These properties have other values, or were told again, or are not known any more.
        case changed(path: String, interface: String, properties: Set<String>)
        /// The service is there and did not tell its objects.
        case refused(BusError)
        /// It shows more than is kept.
        case crowded
    }

    /// By path, then by interface, such as `org.bluez.Device1`; empty until the service has answered.
    public private(set) var objects: [String: [String: Properties]] = [:]
    /// Whether the service has told its objects.
    public private(set) var isFilled = false
    /// Whether something was left out since the service told its objects last.
    public private(set) var isCrowded = false
    /// Called for each change, on the loop's thread.
    public var onChange: ((Change) -> Void)?
    /// Whom an object with these interfaces matters to; nothing where it goes by the object that it is part of.
    var rank: ([String: Properties]) -> Rank? = { _ in nil }

    private var ranks: [String: Rank] = [:]
    private var counts: [Rank: Int] = [:]
    private let bus: SystemBus
    private let service: String
    private var subscriptions: [BusSubscription] = []
    /// The unique name of who is the service.
    private(set) var owner = ""
    private var filling: BusCall?
    private var retry: EventLoop.Timer?

    /// Mirrors nothing before ``start()``.
    ///
    /// - Parameter service: the bus name of whose objects are mirrored.
    public init(bus: SystemBus, service: String = "org.bluez") {
        self.bus = bus
        self.service = service
    }

    /// One interface's properties; nil where the object, or the interface of it, is not there.
    public subscript(path path: String, interface interface: String) -> Properties? { objects[path]?[interface] }

    /// Call it after each connection of the bus.
    public func start() {
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

    /// Call it when the bus is lost.
    public func stop() {
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
        isCrowded = false
    }

    /// Has the service tell all its objects, also those that were left out.
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
                // Its owner's change would tell of a service that comes; this is for one that is there and refuses or is busy.
                retry = bus.loop.after(.seconds(30)) { [weak self] in self?.fill() }
            }
        }
    }

    private func replace(with answer: BusMessage) throws(BusError) {
        guard answer.signature == "a{oa{sa{sv}}}" else { throw .unexpected }
        removeAll()
        owner = answer.sender
        // Devices and adapters first: what a service matters to is known by its device's rank.
        do throws(BusError) {
            for isPart in [false, true] { try read(answer, parts: isPart) }
        } catch {
            // Half a list is none.
            empty()
            throw error
        }
        isFilled = true
        onChange?(.filled)
        if isCrowded { onChange?(.crowded) }
    }

    private func read(_ answer: BusMessage, parts: Bool) throws(BusError) {
        let passed = try answer.readEntries { key, value in
            let interfaces = value.members.mapValues(\.members)
            guard let path = key.text, (rank(interfaces) == nil) == parts else { return }
            keep(path, interfaces)
        }
        if passed > 0 { isCrowded = true }
    }

    /// Whether the object is kept with these interfaces, in place of what was known of them.
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

    /// An object matters to somebody else now, and what is part of it from now on with it.
    func rankAnew(_ path: String) {
        guard let old = ranks[path], let interfaces = objects[path], let new = rank(interfaces), new != old,
            counts[new, default: 0] < new.limit
        else { return }
        ranks[path] = new
        counts[old, default: 0] -= 1
        counts[new, default: 0] += 1
    }

    private func leftOut() {
        isCrowded = true
        if isFilled { onChange?(.crowded) }
    }

    /// Any process can send a signal to our address alone, whatever the rule says: sd-bus compares no unique name with a well-known one
    /// (sd_bus_add_match(3) leaves that to the bus, which does it for broadcasts only).
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
        // Before the first answer there is nothing to change: the answer is younger than these.
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
                // Told again, it is no arrival; what differs has changed.
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
