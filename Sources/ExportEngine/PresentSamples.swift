import HealthModel
import Pipeline
import SampleStore

/// The current values, for targets that show a state instead of single changes: the latest sample of each series that the target
/// receives, with the names of its device and person, and the samples of the same packet.
///
/// The hub's own devices disappear from this view once they are forgotten. Their samples stay in the store and are still sent to
/// the target.
package struct PresentSamples {
    private let store: SampleStore
    private let settings: TargetSettings
    /// Id prefixes of sources that only a hub's own devices have.
    private static let live = ["ble.", "serial."]

    /// - Parameter settings: the target's settings.
    package init(_ store: SampleStore, _ settings: TargetSettings) { (self.store, self.settings) = (store, settings) }

    /// - Throws: ``StoreError`` if the store cannot be read.
    package func all() throws -> [PresentSample] {
        let persons = try store.people.names()
        let adopted = try names()
        return try store.samples.latest(where: { Self.isShown($0) && settings.passes($0) }).compactMap { stored in
            let origin = stored.sample.origin
            let called = origin.device.flatMap { adopted[$0.key] }
            if called == nil, Self.live.contains(where: origin.source.id.hasPrefix) { return nil }
            let name = called ?? origin.device?.name ?? origin.device?.model ?? origin.source.displayName
            return PresentSample(
                stored.sample, deviceName: name, person: origin.person == store.owner ? nil : persons[origin.person])
        }
    }

    /// Whether the sample is shown: quantities, workouts and sleep stages. Being in bed is not a stage because it overlaps them.
    private static func isShown(_ sample: Sample) -> Bool {
        switch sample.origin.kind {
        case .quantity, .workout: true
        case .category: sample.origin.type.id == "sleepAnalysis" && sample.value > 0
        default: false
        }
    }

    /// Returns the samples of the given types that came in the same packet as a sample and that the target receives. The sample
    /// itself is included if it is still in the store.
    ///
    /// - Throws: ``StoreError`` if the store cannot be read.
    package func packet(of sample: Sample, _ types: Set<SampleType>) throws -> [Sample] {
        let origin = sample.origin
        let query = SampleQuery(
            types: types, from: sample.start, to: Instant(microseconds: sample.start.microseconds + 1), person: origin.person)
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var found: [Sample] = []
        while let other = try cursor.next()?.sample {
            let isTogether = other.group == nil ? other.identity == sample.identity : other.group == sample.group
            guard isTogether, other.origin.source.id == origin.source.id, other.origin.device?.key == origin.device?.key,
                settings.passes(other)
            else { continue }
            found.append(other)
        }
        return found
    }

    /// The names of adopted devices, by each key that their readings may have.
    private func names() throws -> [String: String] {
        let aliases = try store.devices.aliases()
        var names: [String: String] = [:]
        for device in try store.devices.adopted() {
            for key in [device.address, device.key, device.storageKey] { names[aliases[key] ?? key] = device.name }
        }
        return names
    }
}
