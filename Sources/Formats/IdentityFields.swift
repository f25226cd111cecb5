import HealthModel

/// What a line that tells all of an object says beside what other lines do, so that it can be read back as the same sample:
///
///     ,"identity":{"subject":"1f0c…","ordinal":0}
///     ,"identity":{"subject":"1f0c…","nominalStart":1790000000000000,"nominalEnd":1790000000000000,"resolution":60,"ordinal":0}
///     ,"identity":{"subject":"1f0c…","record":{"id":"Immunization/1","version":1790000000},"number":"0"},"body":{"codes":[…],…}
///
/// - `subject`: whose it is, also where the line says `me`.
/// - `nominalStart`, `nominalEnd`: the times that its UUID is made of, in microseconds, where they are not its start and end.
/// - `record` or `ordinal`: the maker's own id, or which of the equal readings of its frame it is. Neither, and `"repaired":true`, where a repair
///   made it: its UUID follows from a sample that is no more.
/// - `number`: of what is neither a quantity nor a category, the number with its digits.
/// - `body`: what it tells beyond its number, as stores keep it, with the digits and units that were told.
enum IdentityFields {
    static func append(_ sample: Sample, to bytes: inout [UInt8]) {
        var object = JSONObject()
        object.set("subject", sample.origin.subject)
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

    /// - Returns: by how much the nominal end lies farther behind the nominal start than the end behind the start: clocks may have changed between.
    private static func append(nameOf sample: Sample, to object: inout JSONObject) -> Int64 {
        if let record = sample.record,
            SampleIdentity(series: sample.origin.seriesKey, start: sample.nominalStart, record: record) == sample.identity
        {
            var entry = JSONObject()
            entry.set("id", record.id)
            entry.set("version", Int(record.version))
            object.set("record", entry)
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

    /// Clocks change by half an hour, one or two, and in Samoa once by a day.
    private static let shifts: [Int64] = [0] + [3600, 1800, 7200, 86_400].flatMap { [$0 * 1_000_000, $0 * -1_000_000] }
}
