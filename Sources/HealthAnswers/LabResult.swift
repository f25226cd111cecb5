import HealthModel
import SampleStore

/// The result of a health record with the time of the test.
///
///     LabResult(sample, zone: zone)?.result.text  // "5.4 %"
package struct LabResult: Sendable {
    /// The result with its name and codes.
    package let measured: ClinicalRecord.Measured
    /// The time of the test according to the resource, or else the start of the sample. The start of a day or month without a time.
    package let time: Instant

    package var result: ClinicalResult { measured.result }

    /// The code that identifies the measurement in other results: system and code.
    package var key: String {
        measured.codes.first { $0.code != nil }.map { "\($0.system ?? "")|\($0.code ?? "")" } ?? measured.name
    }

    /// Returns `nil` if the sample is not a record with a result.
    ///
    /// - Parameter zone: The zone of dates without one.
    package init?(_ sample: Sample, zone: TimeZoneRules) {
        guard let first = Self.all(of: sample, zone: zone).first else { return nil }
        self = first
    }

    private init(_ measured: ClinicalRecord.Measured, _ time: Instant) { (self.measured, self.time) = (measured, time) }

    /// The result of a record, and those of its components.
    package static func all(of sample: Sample, zone: TimeZoneRules) -> [LabResult] {
        guard sample.origin.kind == .clinicalRecord, let record = try? sample.body?.decoded(as: ClinicalRecord.self) else {
            return []
        }
        let time = record.time(zone: zone) ?? sample.start
        return record.measured.map { LabResult($0, time) }
    }

    /// The earlier and later results of the same measurement in the same unit, by time.
    package func others(like sample: Sample, in store: SampleStore, zone: TimeZoneRules) throws(StoreError) -> [LabResult] {
        let cursor = try store.samples.cursor(
            matching: SampleQuery(types: [sample.origin.type], person: sample.origin.person, descending: true, limit: 2000))
        defer { cursor.close() }
        var found: [LabResult] = []
        while found.count < 200, let next = try cursor.next()?.sample {
            if let other = LabResult(next, zone: zone), other.key == key, other.result.quantity != nil,
                other.result.quantity?.unit == result.quantity?.unit
            {
                found.append(other)
            }
        }
        return found.sorted { $0.time < $1.time }
    }
}
