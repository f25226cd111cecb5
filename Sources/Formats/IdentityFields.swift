import HealthModel

/// The additional fields of a line that contains all of an object, with which it can be read back as the same sample:
///
///     ,"identity":{"subject":"1f0c…","ordinal":0}
///     ,"identity":{"subject":"1f0c…","nominalStart":1790000000000000,"nominalEnd":1790000000000000,"resolution":60,"ordinal":0}
///     ,"identity":{"subject":"1f0c…","record":{"id":"Immunization/1","version":1790000000},"number":"0"},"body":{"codes":[…],…}
///
/// - `person`: the person, even if the line contains `me`.
/// - `nominalStart`, `nominalEnd`: the times in its UUID, in microseconds, if they differ from its start and end.
/// - `record` or `ordinal`: the maker's id, or the index among equal readings of its frame. A sample made by a repair has neither but
///   `"repaired":true`, because its UUID derives from a sample that no longer exists.
/// - `number`: the number with its digits, for kinds other than quantity and category.
/// - `body`: the content beyond the number in its stored form, with the received digits and units.
enum IdentityFields {
    static func append(_ sample: Sample, to bytes: inout [UInt8]) {
        var object = JSONObject(["subject": sample.origin.person])
        let shift = append(nameOf: sample, to: &object)
        if sample.nominalStart != sample.start.microseconds || shift != 0 {
            object.set("nominalStart", Int(sample.nominalStart))
            object.set(
                "nominalEnd", Int(sample.nominalStart &+ (sample.end.microseconds &- sample.start.microseconds) &+ shift))
        }
        if sample.timeResolution != 1 { object.set("resolution", Int(sample.timeResolution)) }
        switch sample.origin.kind {
        case .quantity: if let molarMass = sample.unit.molarMass { object.set("molarMass", molarMass) }
        case .category: break
        default: object.set("number", sample.numeral.text)
        }
        bytes += ",\"identity\":".utf8
        bytes += object.closed
        guard let json = sample.body?.json, !json.isEmpty else { return }
        bytes += ",\"body\":".utf8
        JSONText.append(json: json, to: &bytes)
    }

    /// - Returns: The nominal duration minus the actual duration. They differ if clocks changed in between.
    private static func append(nameOf sample: Sample, to object: inout JSONObject) -> Int64 {
        if let record = sample.record, sample.isNamed(by: record) {
            object.set("record", JSONObject(["id": record.id, "version": Int(record.version)]))
            return 0
        }
        for shift in sample.end == sample.start || sample.zone == nil ? [0] : shifts {
            guard let ordinal = sample.identityOrdinal(shift: shift) else { continue }
            object.set("ordinal", Int(ordinal))
            return shift
        }
        object.set("repaired", true)
        return 0
    }

    /// Clock changes are half an hour, one or two hours, and once in Samoa a day.
    private static let shifts: [Int64] = [0] + [3600, 1800, 7200, 86_400].flatMap { [$0 * 1_000_000, $0 * -1_000_000] }
}
