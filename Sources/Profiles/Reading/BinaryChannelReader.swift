import HealthModel
import Pipeline

/// Reads a binary channel from its document.
struct BinaryChannelReader {
    let node: ProfileNode
    let profile: (id: String, name: String, version: String)
    private let layout = LayoutReader()

    init(node: ProfileNode, profile: (id: String, name: String, version: String)) {
        self.node = node
        self.profile = profile
    }

    func read(_ name: String) -> BinaryChannel {
        let members = node.members([
            "channel", "layout", "skip", "information", "time", "readings", "metadata", "source", "notes", "describes",
            "packet", "part", "framing", "packed", "port", "repeatsWithin", "session", "follows",
        ])
        let id = profile.id.hasPrefix("sig-") ? String(profile.id.dropFirst(4)) : profile.id
        let kind = name.hasPrefix("serial:") ? "serial." : "ble."
        var source = SourceRevision(id: kind + id, name: profile.name, version: profile.version)
        if let given = members["source"]?.members(["id", "name"]) {
            source.id = given["id"]?.text() ?? source.id
            source.name = given["name"]?.text() ?? source.name
        }
        var channel = BinaryChannel(name: name, source: source)
        if let layout = members["layout"] { self.layout.read(layout) } else { node.problem("layout is missing") }
        channel.skips = (members["skip"]?.elements() ?? []).compactMap(skip)
        if let information = members["information"]?.text() { channel.information = SkipKind(information) }
        if let time = members["time"] { channel.time = self.time(time) }
        let common = members["metadata"]
        if case .object? = members["readings"]?.value {
            channel.measurements = members["readings"]?.members(["each"])["each"].flatMap { layout.index(of: $0, layout.root) }
        } else {
            channel.readings = (members["readings"]?.elements() ?? []).compactMap { reading($0, common: common) }
        }
        if channel.readings.isEmpty, channel.measurements == nil, members["information"] == nil {
            node.problem(
                "readings is missing (a channel without readings needs information, the word that its frames are counted as)")
        }
        if let describes = members["describes"] { channel.description = description(describes, common) }
        channel.session = members["session"].flatMap(session)
        if let packet = members["packet"] { channel.packet = field(packet)?.0 }
        if let part = members["part"] { channel.part = layout.condition(part, layout.root) }
        if let follows = members["follows"], let text = follows.text() {
            if text.hasPrefix("gatt:") {
                channel.follows = text
            } else {
                follows.problem("a channel such as gatt:2A9D is expected here")
            }
        }
        serial(members, name, &channel)
        channel.plan = layout.plan
        return channel
    }

    private func description(_ node: ProfileNode, _ common: ProfileNode?) -> BinaryChannel.Description? {
        let members = node.members(["types", "of"])
        guard let span = members["of"]?.choice(FrameDescription.Span.self), let common else {
            node.problem("of is missing, or the channel has no metadata")
            return nil
        }
        let types = (members["types"]?.elements() ?? []).compactMap { node -> SampleType? in
            guard let id = node.text() else { return nil }
            guard let type = SampleType(id) else {
                node.problem("'\(id)' is not a quantity type (see 'vitalgate types')")
                return nil
            }
            return type
        }
        if types.isEmpty { node.problem("types is missing") }
        return BinaryChannel.Description(
            span: span, types: types, metadata: BinaryChannel.MetadataRules(rules: metadata(common, layout.root)))
    }

    private func session(_ node: ProfileNode) -> BinaryChannel.Session? {
        let members = node.members(["start", "zone", "summerTime"])
        guard let named = members["start"], let zone = members["zone"], let summerTime = members["summerTime"],
            let start = layout.index(of: named, layout.root), let standard = layout.index(of: zone, layout.root),
            let summer = layout.index(of: summerTime, layout.root)
        else {
            node.problem("start, zone and summerTime are needed, each a field of the layout")
            return nil
        }
        layout.requireTime(start, named)
        layout.requireQuarters(standard, zone)
        layout.requireQuarters(summer, summerTime)
        return BinaryChannel.Session(start: start, zone: standard, summerTime: summer)
    }

    /// Reads the keys of serial channels.
    private func serial(_ members: [String: ProfileNode], _ name: String, _ channel: inout BinaryChannel) {
        layout.plan.framing = members["framing"].flatMap(FramingReader.framing)
        layout.plan.isPacked = members["packed"]?.boolean() ?? false
        channel.port = members["port"].map(FramingReader.port)
        channel.repeatsWithin = members["repeatsWithin"]?.integer(1...3600) ?? 0
        guard name.hasPrefix("serial:") else {
            for key in ["framing", "packed", "port"] { members[key]?.problem("only a serial channel has this") }
            return
        }
        for key in ["framing", "port"] where members[key] == nil { node.problem("\(key) is missing") }
    }

    private func skip(_ node: ProfileNode) -> BinaryChannel.Skip? {
        let members = node.members(["when", "as"])
        guard let when = members["when"], let kind = members["as"]?.text() else {
            node.problem("when or as is missing")
            return nil
        }
        return BinaryChannel.Skip(condition: layout.condition(when, layout.root), kind: SkipKind(kind))
    }

    private func time(_ node: ProfileNode) -> BinaryChannel.TimeRule {
        let members = node.members(["field", "when", "unknown", "session"])
        if let session = members["session"] {
            guard let (field, _, _) = field(session) else { return .receipt }
            layout.requireMinutes(field, session)
            return .session(minutes: field)
        }
        guard let (field, scope, _) = members["field"].flatMap(field) else {
            node.problem("field or session is missing")
            return .receipt
        }
        if let named = members["field"] { layout.requireTime(field, named) }
        return .device(
            field: field, condition: layout.condition(members["when"], scope),
            unknown: members["unknown"]?.choice(BinaryChannel.Unknown.self) ?? .receipt)
    }

    /// Finds a field by its name, or by the names of its list and its own: `records.glucose`.
    private func field(_ node: ProfileNode) -> (Int32, LayoutReader.Scope, [Int32])? {
        guard let name = node.text() else { return nil }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return layout.index(of: node, layout.root).map { ($0, layout.root, []) } }
        guard let scope = layout.records[parts[0]] else {
            node.problem("there is no list '\(parts[0])'")
            return nil
        }
        if let namesakes = scope.namesakes[parts[1]], let first = namesakes.first {
            return (first, scope, Array(namesakes.dropFirst()))
        }
        if let index = scope.fields[parts[1]] { return (index, scope, []) }
        node.problem("there is no field '\(parts[1])' in \(parts[0])")
        return nil
    }

    private func reading(_ node: ProfileNode, common: ProfileNode?) -> BinaryChannel.ReadingRule? {
        let members = node.members(["field", "type", "unit", "when", "zero", "with", "metadata"])
        guard let (field, scope, namesakes) = members["field"].flatMap(field), let id = members["type"]?.text() else {
            node.problem("field and type are needed")
            return nil
        }
        guard let type = SampleType(id) else {
            members["type"]?.problem("'\(id)' is not a quantity type (see 'vitalgate types')")
            return nil
        }
        var rule = BinaryChannel.ReadingRule(field: field, namesakes: namesakes, isInRecords: scope !== layout.root, type: type)
        rule.condition = layout.condition(members["when"], scope)
        if let zero = members["zero"] {
            if zero.text() == "none" { rule.zeroIsNone = true } else { zero.problem("zero can mean a missing value") }
        }
        if let companion = members["with"], let (field, other, namesakes) = self.field(companion) {
            rule.companions = [field] + namesakes
            if other !== scope { companion.problem("it must be a field of the same frame or record") }
        }
        if let unit = members["unit"], let code = unit.text() {
            do throws(UnitError) {
                rule.unit = try Unit(ucum: code)
            } catch {
                unit.problem("\(error)")
            }
        }
        for metadata in [common, members["metadata"]] {
            if let metadata { rule.metadata.rules += self.metadata(metadata, scope) }
        }
        check(rule, node)
        return rule
    }

    /// Checks that every unit the field can have under the reading's condition is a unit of the type.
    private func check(_ rule: BinaryChannel.ReadingRule, _ node: ProfileNode) {
        let fields = [rule.field] + rule.namesakes
        for step in layout.plan.steps where fields.contains(step.field) && step.kind != .missing {
            guard step.condition.isCompatible(with: rule.condition) else { continue }
            var units: [Unit?] = [rule.unit]
            if rule.unit == nil {
                units = step.variants.map(Int.init)
                    .filter { layout.plan.variants[$0].condition.isCompatible(with: rule.condition) }
                    .map { layout.plan.units[$0].ucum }
                if units.isEmpty { units = [nil] }
            }
            for unit in units {
                guard let unit else {
                    node.problem("the field has no UCUM unit: set unit")
                    continue
                }
                do throws(UnitError) {
                    _ = try rule.type.conversion(from: unit)
                } catch {
                    node.problem("\(rule.type.id): \(error)")
                }
            }
        }
    }

    private func metadata(
        _ node: ProfileNode, _ scope: LayoutReader.Scope
    ) -> [(key: String, value: BinaryChannel.MetadataRules.Value)] {
        node.anyMembers().sorted { $0.key < $1.key }.compactMap { key, node in
            switch node.value {
            case .string(let text): return (key, .constant(.string(text)))
            case .boolean(let flag): return (key, .constant(.boolean(flag)))
            default: break
            }
            let members = node.members(["flag", "field", "map", "set"])
            if let flag = members["flag"] { return (key, .flag(layout.condition(flag, scope))) }
            if let set = members["set"] { return layout.index(of: set, scope).map { (key, .names($0)) } }
            guard let field = members["field"] else {
                node.problem("a text, true, false, {flag: …}, {set: …} or {field: …} is expected here")
                return nil
            }
            guard let map = members["map"] else { return layout.index(of: field, scope).map { (key, .number($0)) } }
            guard let name = field.text(), let term = scope.terms[name] else {
                field.problem("a map needs an enumeration")
                return nil
            }
            var values: [Int64: MetadataValue] = [:]
            for (name, node) in map.anyMembers() {
                let codes = term.values.filter { $0.value == name }.map(\.key)
                if codes.isEmpty { node.problem("'\(name)' is not one of its values") }
                for code in codes { values[code] = node.text().map { .string($0) } }
            }
            return (key, .mapped(shift: term.shift, width: term.width, values: values))
        }
    }
}
