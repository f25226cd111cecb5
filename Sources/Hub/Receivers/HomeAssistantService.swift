import EventLoopKit
import HealthModel
import HomeAssistantKit
import HomeAssistantSource
import Ingestion
import Pipeline

/// The radios of Home Assistant as a source of the hub. It passes the advertisements of adopted devices to the radio's service, which reads
/// them as its own.
///
/// It connects only while a Bluetooth device is adopted.
package final class HomeAssistantService: HubSource {
    /// `homeassistant`.
    package let name = "homeassistant"
    /// Receives notices and changes.
    package weak var host: (any HubSourceHost)?
    private let radio: RadioService
    private let loop: EventLoop
    private let clock: AdvertListener.Clock
    private var sources: [SourceConfiguration] = []
    private var addresses: Set<String> = []
    private var listeners: [String: Listening] = [:]
    private var isStarted = false

    fileprivate struct Listening {
        var settings: HomeAssistantSettings
        var listener: AdvertListener
        var state = AdvertListener.State.connecting
        var counts = AdvertCounts()
        var lost: Duration?
        /// The failure that was reported last.
        var reported: String?
    }

    /// How long ``stop()`` waits for a connection to close.
    private static let closingTime = Duration.seconds(1)

    /// - Parameter radio: the service that reads the advertisements.
    package init(radio: RadioService, loop: EventLoop, clock: AdvertListener.Clock) {
        (self.radio, self.loop, self.clock) = (radio, loop, clock)
    }

    /// The sum of all connections.
    package var adverts: AdvertCounts? { listeners.values.reduce(into: AdvertCounts()) { $0 += $1.counts } }

    /// The radios, with the name of their source.
    package var radios: [String] {
        listeners.flatMap { name, each -> [String] in
            guard case .listening(_, let radios) = each.state else { return [] }
            return radios.values.map { "\(name): \($0)" }
        }.sorted()
    }

    /// The reason why a Home Assistant is not heard.
    package var waitsFor: String? {
        let reasons = listeners.sorted { $0.key < $1.key }.compactMap { name, each in
            each.reason.map { "\(name): \($0)" }
        }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }

    /// Connects to new and changed ones, and leaves removed ones.
    package func apply(_ settings: HubSettings) {
        sources = settings.sources
        addresses = Set(settings.devices.compactMap { DeviceAssembly.address(of: $0)?.description })
        update()
    }

    package func start() throws(SourceError) {
        isStarted = true
        update()
    }

    package func stop() {
        isStarted = false
        for name in listeners.keys { close(name, waiting: Self.closingTime) }
        radio.hasReceivers = false
    }

    private func update() {
        let wanted = isStarted && !addresses.isEmpty ? sources : []
        for (name, each) in listeners
        where !wanted.contains(where: { $0.name == name && $0.settings == each.settings }) || each.listener.hasNewToken {
            close(name)
        }
        for source in wanted {
            if let known = listeners[source.name] { known.listener.listen(to: addresses) } else { open(source) }
        }
        radio.hasReceivers = !listeners.isEmpty
        host?.changed(self)
    }

    private func open(_ source: SourceConfiguration) {
        let listener = AdvertListener(source.settings, addresses: addresses, clock: clock)
        listeners[source.name] = Listening(settings: source.settings, listener: listener)
        loop.watch(listener.descriptor) { [weak self] _ in self?.receive(from: source.name) }
        listener.start()
    }

    private func close(_ name: String, waiting limit: Duration = .zero) {
        guard let closed = listeners.removeValue(forKey: name) else { return }
        loop.unwatch(closed.listener.descriptor)
        closed.listener.stop(waiting: limit)
        for advert in closed.listener.take().adverts { radio.received(advert, from: name) }
    }

    private func receive(from name: String) {
        guard let batch = listeners[name]?.listener.take() else { return }
        for advert in batch.adverts { radio.received(advert, from: name) }
        listeners[name]?.counts = batch.counts
        if let before = listeners[name]?.state, before != batch.state { changed(name, before, batch.state) }
        host?.changed(self)
    }

    private func changed(_ name: String, _ before: AdvertListener.State, _ state: AdvertListener.State) {
        listeners[name]?.state = state
        switch state {
        case .connecting: break
        case .listening(let version, _):
            if case .listening = before { return }
            var text = "listening to the radios of Home Assistant \(version)"
            if let lost = listeners[name]?.lost {
                text += " again, after \((loop.clock.uptime - lost).components.seconds) s in which nothing was heard"
            }
            listeners[name]?.lost = nil
            listeners[name]?.reported = nil
            notify(.information, name, text)
        case .failed(let reason):
            if case .listening = before { listeners[name]?.lost = loop.clock.uptime }
            guard listeners[name]?.reported != reason else { return }
            listeners[name]?.reported = reason
            notify(.warning, name, "\(reason), trying again")
        case .refused(let reason): notify(.action, name, reason)
        }
    }

    private func notify(_ weight: SourceNotice.Weight, _ component: String, _ text: String) {
        host?.didReceive(SourceNotice(weight, component, text))
    }
}

extension HomeAssistantService.Listening {
    /// The reason why nothing is heard, or `nil`.
    fileprivate var reason: String? {
        switch state {
        case .connecting, .listening: nil
        case .failed(let reason), .refused(let reason): reason
        }
    }
}
