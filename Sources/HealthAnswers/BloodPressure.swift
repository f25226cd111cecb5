import HealthModel
import SampleStore

/// The two pressures of a blood pressure correlation (`HKCorrelationTypeIdentifierBloodPressure`), in mm[Hg].
package struct BloodPressure: Hashable, Sendable {
    package let systolic: Double
    package let diastolic: Double

    /// The id of the correlation's type.
    package static let type = "bloodPressure"

    /// The type whose unit a sample is shown in: a blood pressure is shown by its two pressures, any other sample by its own value.
    package static func measuredType(of type: SampleType) -> SampleType { type.id == Self.type ? .bloodPressureSystolic : type }

    /// Reads the samples of a correlation. Returns `nil` for another type, and if one of the two is missing.
    package init?(_ correlation: Sample, in store: SampleStore) throws(StoreError) {
        guard correlation.origin.type.id == Self.type,
            let objects = (try? correlation.body?.decoded(as: Correlation.self))?.objects, objects.count <= 16
        else { return nil }
        var found: [SampleType: Double] = [:]
        for text in objects {
            guard let uuid = SampleIdentity(text), let stored = try store.samples.object(named: uuid, in: correlation) else {
                continue
            }
            found[stored.sample.origin.type] = stored.sample.value
        }
        guard let systolic = found[.bloodPressureSystolic], let diastolic = found[.bloodPressureDiastolic]
        else { return nil }
        (self.systolic, self.diastolic) = (systolic, diastolic)
    }

    /// The limits above which pressures measured at home are high, in mm[Hg].
    ///
    /// Source: Williams et al., 2018 ESC/ESH Guidelines for the management of arterial hypertension, Eur Heart J 2018;39:3021-3104, table 9.
    package static let homeLimit = BloodPressure(systolic: 135, diastolic: 85)

    private init(systolic: Double, diastolic: Double) { (self.systolic, self.diastolic) = (systolic, diastolic) }

    /// A person's blood pressures in a range by time. The two values of each are of one measurement: they have the same time, source, and
    /// device, and the same group if the source has one. The sample is the systolic one.
    ///
    /// - Parameter conditions: The readings that count, by type. A measurement with a value that does not count is omitted.
    package static func readings(
        of person: String, from start: Instant, to end: Instant, in store: SampleStore,
        where conditions: [SampleType: SamplePredicate] = [:]
    ) throws(StoreError) -> [(time: Instant, pressure: BloodPressure, sample: Sample)] {
        struct Measurement: Hashable {
            var start: Instant
            var source: String
            var device: String?
            var group: UInt64?
        }
        var lower: [Measurement: Double] = [:]
        var readings: [(time: Instant, pressure: BloodPressure, sample: Sample)] = []
        for type in [SampleType.bloodPressureDiastolic, .bloodPressureSystolic] {
            let cursor = try store.samples.cursor(
                matching: SampleQuery(types: [type], from: start, to: end, person: person, where: conditions[type]))
            defer { cursor.close() }
            while let sample = try cursor.next()?.sample {
                let key = Measurement(
                    start: sample.start, source: sample.origin.source.id, device: sample.origin.device?.key, group: sample.group)
                if type == .bloodPressureDiastolic {
                    lower[key] = sample.value
                } else if let diastolic = lower[key] {
                    readings.append((sample.start, BloodPressure(systolic: sample.value, diastolic: diastolic), sample))
                }
            }
        }
        return readings
    }

    /// The pressures as they are written in practice, such as `124/79`, with at most one decimal.
    ///
    /// - Parameter conversion: The conversion from mm[Hg] to the unit of the text.
    package func text(_ conversion: UnitConversion? = nil) -> String {
        [systolic, diastolic].map { Self.text(conversion?($0) ?? $0) }.joined(separator: "/")
    }

    private static func text(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e6 else { return "-" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
