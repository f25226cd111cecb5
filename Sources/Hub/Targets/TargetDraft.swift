import Pipeline

/// A new target, from the settings of a command line.
///
///     var draft = try TargetDraft(kind: .mqtt, settings: ["url=mqtt://localhost", "staleAfter.heartRate=300"])
///     draft.object  // { kind: "mqtt", url: "mqtt://localhost", staleAfter: { heartRate: 300 } }
///
/// It knows which keys there are and the forms of their values. Whether a value is valid is decided by the configuration's reader.
package struct TargetDraft {
    package let kind: ExporterKind
    /// The secrets to read from the user (`KEY=-`), in the given order.
    package private(set) var askedSecrets: [String] = []
    /// The values in JSON5, by key. An object or a list has several.
    private var values: [(key: String, form: ExporterSetting.Form, parts: [(key: String, value: String)])] = []

    /// The keys of a kind on the command line, without the kind itself.
    package static func settings(of kind: ExporterKind) -> [ExporterSetting] {
        kind.settings + TargetConfiguration.settings.filter { $0.key != "kind" }
    }

    /// - Parameter settings: texts `KEY=VALUE`, or `KEY.PART=VALUE` for a part of an object.
    /// - Throws: ``SettingsFault`` if a key is unknown, or a value does not have its form.
    package init(kind: ExporterKind, settings: [String]) throws(SettingsFault) {
        self.kind = kind
        for setting in settings { try add(setting) }
    }

    package mutating func set(_ key: String, secretIn path: String) {
        values.append((key, .secret, [("file", JSON5Text.quoted(path))]))
    }

    /// The target in JSON5.
    package var object: String {
        var members = [(key: "kind", value: JSON5Text.quoted(kind.rawValue))]
        for (key, form, parts) in values {
            switch form {
            case .texts, .numbers, .secret: members.append((key, JSON5Text.object(parts)))
            case .list, .arguments: members.append((key, "[" + parts.map(\.value).joined(separator: ", ") + "]"))
            case .text, .number, .boolean: members.append((key, parts.map(\.value).joined()))
            }
        }
        return JSON5Text.object(members)
    }

    private mutating func add(_ setting: String) throws(SettingsFault) {
        guard let sign = setting.firstIndex(of: "=") else {
            throw SettingsFault(setting, "expected KEY=VALUE, such as \(Self.settings(of: kind).first?.key ?? "types")=VALUE")
        }
        let (name, value) = (String(setting[..<sign]), String(setting[setting.index(after: sign)...]))
        let path = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let known = Self.settings(of: kind).first(where: { $0.key == path[0] }) else {
            let keys = Self.settings(of: kind).map(\.key).joined(separator: ", ")
            throw SettingsFault(path[0], "unknown key for \(kind.rawValue), expected one of \(keys)")
        }
        let (key, part) = (known.key, path.count > 1 ? path[1] : nil)
        switch known.form {
        case .texts, .numbers:
            guard let part, !part.isEmpty else { throw SettingsFault(key, "expected \(key).NAME=VALUE") }
            try add(known, [(part, try Self.literal(value, known.form, name))])
        case .secret:
            guard value != "-" || part != nil else {
                guard !askedSecrets.contains(key) else { throw SettingsFault(key, "is given twice") }
                askedSecrets.append(key)
                return
            }
            guard let part, Secret.knownKeys.contains(part) else {
                let places = Secret.knownKeys.map { "\(key).\($0)=\($0 == "file" ? "/PATH" : "NAME")" }
                throw SettingsFault(
                    key,
                    "a secret is not part of a command line: give \(places.joined(separator: " or ")), or \(key)=- to type it")
            }
            try add(known, [(part, JSON5Text.quoted(value))])
        default:
            guard part == nil else { throw SettingsFault(name, "'\(key)' has no parts: give \(key)=VALUE") }
            let texts = known.form == .list ? value.split(separator: ",").map(String.init) : [value]
            guard !texts.isEmpty else { throw SettingsFault(key, "expected a value after the '='") }
            var parts: [(String, String)] = []
            for text in texts { parts.append(("", try Self.literal(text, known.form, key))) }
            try add(known, parts)
        }
    }

    private mutating func add(_ setting: ExporterSetting, _ parts: [(key: String, value: String)]) throws(SettingsFault) {
        guard let index = values.firstIndex(where: { $0.key == setting.key }) else {
            values.append((setting.key, setting.form, parts))
            return
        }
        let known = Set(values[index].parts.map(\.key))
        switch setting.form {
        case .list, .arguments: break
        case .texts, .numbers:
            guard !parts.contains(where: { known.contains($0.key) }) else { throw SettingsFault(setting.key, "is given twice") }
        default: throw SettingsFault(setting.key, "is given twice")
        }
        values[index].parts += parts
    }

    private static func literal(_ text: String, _ form: ExporterSetting.Form, _ key: String) throws(SettingsFault) -> String {
        switch form {
        case .number, .numbers:
            guard let number = Int(text) else { throw SettingsFault(key, "expected a whole number instead of '\(text)'") }
            return "\(number)"
        case .boolean:
            guard ["true", "false"].contains(text) else {
                throw SettingsFault(key, "expected true or false instead of '\(text)'")
            }
            return text
        case .text, .list, .arguments, .texts, .secret: return JSON5Text.quoted(text)
        }
    }
}
