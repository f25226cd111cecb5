import HealthModel

/// Reads rows of the table of samples back as samples.
struct QuantityReader {
    private var origins: [[String?]: Origin] = [:]
    private var metadata: [String: Metadata] = [:]
    private var units: [String: Unit] = [:]

    /// The columns of a row that is called `s`. The last one lists the hubs that have it, and those whose reports it represents.
    static let columns = """
        s.uuid, (extract(epoch FROM s.start_time) * 1000000)::bigint, (extract(epoch FROM s.end_time) * 1000000)::bigint, s.numeral, s.numeral_unit,
            s.zone_offset, s.time_origin, s.group_id, s.metadata, s.identity->>'resolution', s.identity->>'molarMass',
            s.identity->>'nominalStart', array_to_string(s.hubs || coalesce(s.represents, '{}'), ','), s.type, s.source_id, s.source_name,
            s.source_version, s.device_key, s.device_name, s.device_manufacturer, s.device_model, s.device_serial
        """

    /// Returns a row's sample and hubs, or `nil` if its content cannot be read.
    mutating func read(_ row: [String?], of person: String) -> (sample: Sample, hubs: [Int32])? {
        func text(_ index: Int) -> String { row[index] ?? "" }
        guard let identity = SampleIdentity(text(0)), let start = Int64(text(1)), let end = Int64(text(2)),
            let numeral = try? Numeral(text(3)), let origin = origin(row, of: person),
            let unit = unit(text(4), molarMass: row[10]), let conversion = try? origin.type.conversion(from: unit)
        else { return nil }
        let sample = Sample(
            origin: origin, identity: identity, nominalStart: row[11].flatMap { Int64($0) } ?? start,
            start: Instant(microseconds: start), end: Instant(microseconds: end), value: conversion.convert(numeral),
            numeral: numeral, unit: unit, zone: row[5].flatMap { Int32($0) }.map { ZoneOffset(seconds: $0) },
            timeOrigin: TimeOrigin.allCases.first { $0.name == row[6] } ?? .device, received: Instant(microseconds: start),
            group: row[7].flatMap { UInt64($0, radix: 16) }, metadata: metadata(row[8]),
            timeResolution: row[9].flatMap { Int32($0) } ?? 1)
        return (sample, text(12).split(separator: ",").compactMap { Int32($0) })
    }

    private mutating func origin(_ row: [String?], of person: String) -> Origin? {
        let key = Array(row[13...21])
        if let known = origins[key] { return known }
        guard let type = key[0].flatMap({ SampleType($0) }), type.kind == .quantity else { return nil }
        let device = key[4].map { Device(key: $0, name: key[5], manufacturer: key[6], model: key[7], serial: key[8]) }
        let origin = Origin(
            person: person, type: type,
            source: SourceRevision(id: key[1] ?? "", name: key[2] ?? "", version: key[3]), device: device)
        origins[key] = origin
        return origin
    }

    private mutating func unit(_ code: String, molarMass: String?) -> Unit? {
        let key = code + " " + (molarMass ?? "")
        if let known = units[key] { return known }
        guard var unit = try? Unit(ucum: code) else { return nil }
        if let mass = molarMass.flatMap({ Double($0) }) { unit = unit.with(molarMass: mass) }
        units[key] = unit
        return unit
    }

    private mutating func metadata(_ json: String?) -> Metadata? {
        guard let json, json != "{}" else { return nil }
        if let known = metadata[json] { return known }
        guard let new = try? Metadata(json: json) else { return nil }
        if metadata.count > 4096 { metadata.removeAll() }
        metadata[json] = new
        return new
    }
}
