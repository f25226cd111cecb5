import HealthModel
import SampleStore

/// Finds scales that several people use, although all their weighings go to one person. A scale that is assigned to several people by
/// weight or by number is not among them.
///
/// A person does not lose a twentieth of the weight within half an hour. If that happens on three days, the weights are of two people.
package struct ScaleUse: Hashable, Sendable {
    /// The name of the scale, or its key.
    package var scale: String
    package var days: Int
    /// The addresses of the adopted devices that send its readings. Empty for the scale of a file.
    package var devices: [String]

    private static let apart = 1_800_000_000 as Int64
    private static let least = 3
    /// The number of weighings that are compared.
    private static let reach = 400

    /// Returns the scales with weights of several people.
    package static func suspected(in store: SampleStore) throws -> [ScaleUse] {
        var last: [[String]: Sample] = [:]
        let adopted = try store.devices.adopted().map { (device: $0, keys: try store.devices.keys(of: $0.address)) }
        let shared = Set(adopted.filter { !$0.device.sharers.isEmpty }.flatMap(\.keys))
        var days: [[String]: (scale: String, days: Set<Int64>)] = [:]
        let cursor = try store.samples.cursor(matching: SampleQuery(types: [.bodyMass], descending: true, limit: reach))
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            guard sample.origin.person != Origin.unassigned, let device = sample.origin.device, !shared.contains(device.key)
            else { continue }
            let key = [sample.origin.person, device.key]
            defer { last[key] = sample }
            guard let other = last[key], (other.start.microseconds &- sample.start.microseconds).magnitude < UInt64(apart),
                abs(other.value - sample.value) > max(other.value, sample.value) / 20
            else { continue }
            days[key, default: (device.name ?? device.model ?? device.key, [])].days.insert(
                sample.start.microseconds / Calendar.day)
        }
        return days.filter { $0.value.days.count >= least }.map { key, found in
            ScaleUse(
                scale: found.scale, days: found.days.count,
                devices: adopted.filter { $0.keys.contains(key[1]) }.map(\.device.address))
        }.sorted { $0.scale < $1.scale }
    }
}
