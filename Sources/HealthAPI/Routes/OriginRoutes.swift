import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The routes that list types, sources and devices.
enum OriginRoutes {
    static let types = Route(
        method: "GET", path: "/v1/types", name: "types", summary: "List the types that have samples.",
        parameters: [.person], answers: [.json, .ndjson], key: "types", answer: types)
    static let sources = Route(
        method: "GET", path: "/v1/sources", name: "sources", summary: "List the sources of samples.",
        parameters: [.types, .person], answers: [.json, .ndjson], key: "sources", answer: sources)
    static let devices = Route(
        method: "GET", path: "/v1/devices", name: "devices", summary: "List the devices that measured samples.",
        parameters: [.types, .person], answers: [.json, .ndjson], key: "devices", answer: devices)

    /// A group of series with the same key.
    private struct Together {
        var first: CountingSource
        var types: Set<String> = []
        var (from, to): (Instant, Instant)

        init(_ source: CountingSource) { (first, from, to) = (source, source.first, source.last) }

        mutating func take(_ source: CountingSource) {
            types.insert(source.series.type.id)
            (from, to) = (min(from, source.first), max(to, source.last))
        }

        func encode(in object: inout JSONObject) {
            object.set(["types": types.sorted(), "first": from.description, "last": to.description])
        }
    }

    private static func together(
        _ call: Call, _ types: Set<SampleType>?, by key: (CountingSource) -> String,
        makeObject encode: (Together, String) -> JSONObject
    ) throws -> HTTPResponse {
        let reader = try call.reader()
        let query = SampleQuery(types: types, person: try call.person(reader.store))
        var (found, order): ([String: Together], [String]) = ([:], [])
        // The store numbers series in the order of arrival, which means nothing to a client. They are sorted by key instead.
        let all = try reader.store.sources.counting(matching: query, call.core.settings.priority).sorted { key($0) < key($1) }
        for source in all {
            reader.countRead(source.series.type.id, of: source.series.person)
            let key = key(source)
            if found[key] == nil { order.append(key) }
            found[key, default: Together(source)].take(source)
        }
        return call.list(order.compactMap { found[$0].map { encode($0, reader.store.owner).closed } })
    }

    @Sendable private static func types(_ call: Call) throws -> HTTPResponse {
        try together(
            call, nil, by: { $0.series.type.id },
            makeObject: { group, _ in
                let type = group.first.series.type
                return JSONObject([
                    "type": type.id, "kind": type.kind.name, "unit": type.kind == .quantity ? type.canonicalUnit.code : nil,
                    "healthKit": type.healthKitIdentifier, "first": group.from.description, "last": group.to.description,
                ])
            })
    }

    @Sendable private static func sources(_ call: Call) throws -> HTTPResponse {
        try together(
            call, try call.types(), by: { $0.series.source + "\n" + $0.series.person },
            makeObject: { group, me in
                var object = JSONObject([
                    "id": group.first.series.source, "name": group.first.sourceName,
                    "subject": group.first.series.person == me ? "me" : group.first.series.person,
                ])
                group.encode(in: &object)
                return object
            })
    }

    @Sendable private static func devices(_ call: Call) throws -> HTTPResponse {
        let types = try call.types()
        return try together(
            call, types, by: { $0.series.device + "\n" + $0.series.person },
            makeObject: { group, me in
                var object = JSONObject([
                    "key": group.first.series.device.isEmpty ? nil : group.first.series.device, "name": group.first.deviceName,
                    "model": group.first.model, "subject": group.first.series.person == me ? "me" : group.first.series.person,
                ])
                group.encode(in: &object)
                return object
            })
    }
}
