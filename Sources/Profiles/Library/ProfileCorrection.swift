import HealthModel

/// An error in an earlier version of a profile, an app or a device's firmware, and its repair.
package struct ProfileCorrection: Sendable {
    /// The id, unique within the profile.
    package var id: String
    /// A description of the error, for users.
    package var note: String
    package var conditions: SampleConditions
    package var repair: Repair
    /// Whether the conditions alone decide, even if a value could be correct.
    package var takesAmbiguous: Bool

    private static let keys = [
        "id", "note", "types", "version", "firmware", "locale", "from", "to", "where", "readAs", "scale", "shift", "setType",
        "ambiguous",
    ]

    /// Reads a correction from a profile's document and notes problems there.
    init?(_ node: ProfileNode, profile: String) {
        let members = node.members(Self.keys)
        for key in ["id", "note", "types"] where members[key] == nil { node.problem("\(key) is missing") }
        id = members["id"]?.text() ?? ""
        note = members["note"]?.text() ?? ""
        takesAmbiguous = members["ambiguous"]?.boolean() ?? false
        conditions = SampleConditions(types: Set((members["types"]?.elements() ?? []).compactMap(Self.type)))
        let short = profile.hasPrefix("sig-") ? String(profile.dropFirst(4)) : profile
        conditions.sourceFamilies = ["file." + profile, "ble." + short, "serial." + profile]
        conditions.sourceVersion = members["version"].flatMap(Self.range)
        conditions.firmware = members["firmware"].flatMap(Self.range)
        conditions.from = members["from"].flatMap(Self.instant)
        conditions.to = members["to"].flatMap(Self.instant)
        let locales = members["locale"]?.texts() ?? []
        let written = [
            members["where"]?.text().map { "(\($0))" },
            locales.isEmpty ? nil : "(" + locales.map { "metadata.locale = '\($0)'" }.joined(separator: " or ") + ")",
        ].compactMap { $0 }
        if !written.isEmpty {
            let text = written.joined(separator: " and ")
            conditions.conditionText = text
            do throws(PredicateError) {
                let condition = try SamplePredicate(text)
                if condition.asksForOthers {
                    (members["where"] ?? node).problem(
                        "a correction decides by each sample alone, without fromWorkout and inCorrelation")
                }
                conditions.condition = condition
            } catch {
                (members["where"] ?? members["locale"] ?? node).problem("\(error)")
            }
        }
        let repairs = [
            members["readAs"].flatMap(Self.unit), members["scale"].flatMap(Self.factor), members["shift"].flatMap(Self.shift),
            members["setType"].flatMap(Self.type).map { Repair.type($0) },
        ].compactMap { $0 }
        guard let repair = repairs.first, repairs.count == 1 else {
            node.problem("a correction has one of readAs, scale, shift and setType")
            return nil
        }
        self.repair = repair
    }

    private static func type(_ node: ProfileNode) -> SampleType? {
        guard let text = node.text() else { return nil }
        if let type = SampleType(text) { return type }
        node.problem("there is no quantity type '\(text)'")
        return nil
    }

    private static func range(_ node: ProfileNode) -> VersionRange? {
        guard let text = node.text() else { return nil }
        if let range = VersionRange(text) { return range }
        node.problem("versions are written as 2.1, <2.1, >=1.0 <2.1 or 1.0...2.0")
        return nil
    }

    private static func instant(_ node: ProfileNode) -> Instant? {
        guard let text = node.text() else { return nil }
        if let stamp = try? Timestamp(iso8601: text), let instant = stamp.instant { return instant }
        node.problem("a time with its offset is expected here, such as 2026-03-01T00:00:00Z")
        return nil
    }

    private static func unit(_ node: ProfileNode) -> Repair? {
        guard let text = node.text() else { return nil }
        do throws(UnitError) {
            return .unit(try Unit(ucum: text))
        } catch {
            node.problem("\(error)")
            return nil
        }
    }

    private static func factor(_ node: ProfileNode) -> Repair? {
        guard let text = node.text() else { return nil }
        if let factor = try? Numeral(text), factor.doubleValue != 0 { return .scale(factor) }
        node.problem("a factor is a text such as \"0.01\"")
        return nil
    }

    private static func shift(_ node: ProfileNode) -> Repair? {
        guard let text = node.text() else { return nil }
        if let offset = Repair.duration(text) { return .shift(offset) }
        node.problem("a time such as +1h or -5h30min is expected here")
        return nil
    }
}
