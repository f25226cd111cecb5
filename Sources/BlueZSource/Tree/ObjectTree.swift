import EventLoopKit

/// The objects of a service, mirrored: read once, then kept by signals, never polled (D-Bus specification, ObjectManager).
///
/// When the service goes away the tree is empty; when it comes back it is filled anew (story 4).
public final class ObjectTree {
    public typealias Properties = [String: BusValue]

    public enum Change: Equatable {
        /// The service answers, and the tree is what it said.
        case filled
        /// The service, or the bus, is gone; so are all objects.
        case emptied
        case added(path: String, interface: String)
        case removed(path: String, interface: String)
        case changed(path: String, interface: String, properties: Set<String>)
        /// The service is there and did not tell its objects.
        case refused(BusError)
    }

    public private(set) var objects: [String: [String: Properties]] = [:]
    /// Whether the service has told its objects.
    public private(set) var isFilled = false
    public var onChange: ((Change) -> Void)?

    private let bus: SystemBus
    private let service: String
    private var subscriptions: [BusSubscription] = []
    private var owner = ""
    private var filling: BusCall?
    private var retry: EventLoop.Timer?

    public init(bus: SystemBus, service: String = "org.bluez") {
        self.bus = bus
        self.service = service
    }

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
        objects.removeAll()
        onChange?(.emptied)
    }

    private func fill() {
        filling?.cancel()
        retry?.cancel()
        let method = BusMethod(service, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        filling = bus.call(method) { [weak self] answer in
            guard let self else { return }
            filling = nil
            switch answer {
            case .success(let values): replace(with: values.first)
            case .failure(let error):
                onChange?(.refused(error))
                // Its owner's change would tell of a service that comes; this is for one that is there and refuses or is busy.
                retry = bus.loop.after(.seconds(30)) { [weak self] in self?.fill() }
            }
        }
    }

    private func replace(with value: BusValue?) {
        objects.removeAll()
        guard case .dictionary(_, _, let entries)? = value else { return }
        for entry in entries {
            guard let path = entry.key.text else { continue }
            objects[path] = entry.value.members.mapValues(\.members)
        }
        isFilled = true
        onChange?(.filled)
    }

    private func ownerChanged(_ signal: BusSignal) {
        guard signal.arguments.count == 3, let fresh = signal.arguments[2].text else { return }
        owner = fresh
        filling?.cancel()
        filling = nil
        empty()
        if !owner.isEmpty { fill() }
    }

    private func objectsChanged(_ signal: BusSignal) {
        // Before the first answer there is nothing to change: the answer is younger than these.
        guard isFilled, signal.arguments.count == 2, let path = signal.arguments[0].text else { return }
        if signal.member == "InterfacesAdded" {
            for (interface, properties) in signal.arguments[1].members.sorted(by: { $0.key < $1.key }) {
                objects[path, default: [:]][interface] = properties.members
                onChange?(.added(path: path, interface: interface))
            }
        } else if signal.member == "InterfacesRemoved" {
            for interface in signal.arguments[1].texts ?? [] {
                guard objects[path]?.removeValue(forKey: interface) != nil else { continue }
                if objects[path]?.isEmpty == true { objects[path] = nil }
                onChange?(.removed(path: path, interface: interface))
            }
        }
    }

    private func propertiesChanged(_ signal: BusSignal) {
        guard signal.arguments.count == 3, let interface = signal.arguments[0].text,
            objects[signal.path]?[interface] != nil
        else { return }
        let changed = signal.arguments[1].members
        let invalidated = signal.arguments[2].texts ?? []
        objects[signal.path]?[interface]?.merge(changed) { $1 }
        for name in invalidated { objects[signal.path]?[interface]?[name] = nil }
        onChange?(.changed(path: signal.path, interface: interface, properties: Set(changed.keys).union(invalidated)))
    }
}
