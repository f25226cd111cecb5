/// Reads `match` and `connection` from a profile's document.
struct ConnectionReader {
    /// Whether a text is a UUID: `180D`, or 36 characters with hyphens.
    static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return (groups.map(\.count) == [4] || groups.map(\.count) == [8, 4, 4, 4, 12])
            && groups.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }

    static func match(_ node: ProfileNode?) -> DeviceMatch {
        var match = DeviceMatch()
        guard
            let members = node?.members([
                "services", "advertisedServiceData", "manufacturers", "names", "wholeNames", "otherNames", "readable", "all",
                "usb",
            ])
        else {
            return match
        }
        match.services = uuids(members["services"])
        match.advertisedServiceData = uuids(members["advertisedServiceData"])
        for element in members["manufacturers"]?.elements() ?? [] {
            guard let text = element.text() else { continue }
            if text.utf8.count == 4, let number = UInt16(text, radix: 16) {
                match.manufacturers.append(number)
            } else {
                element.problem("a company is a number of four hexadecimal digits")
            }
        }
        match.usb = (members["usb"]?.elements() ?? []).compactMap(usb)
        match.names = (members["names"]?.texts() ?? []).filter { !$0.isEmpty }
        match.wholeNames = (members["wholeNames"]?.texts() ?? []).filter { !$0.isEmpty }
        match.otherNames = (members["otherNames"]?.texts() ?? []).filter { !$0.isEmpty }
        match.readable = members["readable"]?.boolean() ?? false
        match.needsAll = members["all"]?.boolean() ?? false
        return match
    }

    /// Reads `{ id: "10c4:ea60", shared: true }`.
    private static func usb(_ node: ProfileNode) -> USBMatch? {
        let members = node.members(["id", "shared"])
        let parts = (members["id"]?.text() ?? "").lowercased().split(separator: ":").map(String.init)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 4 && $0.allSatisfy(\.isHexDigit) }) else {
            node.problem("id is vendor and product, four hexadecimal digits each, such as 10c4:ea60")
            return nil
        }
        return USBMatch(vendor: parts[0], product: parts[1], isShared: members["shared"]?.boolean() ?? false)
    }

    private static func serial(_ members: [String: ProfileNode]) -> SerialConversation {
        var serial = SerialConversation()
        serial.opening = (members["opening"]?.elements() ?? []).compactMap { $0.bytes() }
        serial.closing = (members["closing"]?.elements() ?? []).compactMap { $0.bytes() }
        serial.dialogue = members["dialogue"]?.text().flatMap { SerialConversation.Dialogue(rawValue: $0) }
        if let node = members["keepAlive"] {
            let parts = node.members(["octets", "every"])
            if let bytes = parts["octets"]?.bytes(), let every = parts["every"]?.integer(1...3600) {
                serial.keepAlive = .init(bytes: bytes, every: every)
            } else {
                node.problem("octets and every (in seconds) are required")
            }
        }
        return serial
    }

    private static func uuids(_ node: ProfileNode?) -> [String] {
        (node?.elements() ?? []).compactMap { element in
            guard let text = element.text() else { return nil }
            guard isUUID(text) else {
                element.problem("a service is a number of four hexadecimal digits, or a UUID")
                return nil
            }
            return text.uppercased()
        }
    }

    /// - Parameters:
    ///   - root: the profile's root node, for problems in default values.
    ///   - readings: the GATT channels with readings, without `gatt:`.
    ///   - hasAdverts: whether the profile reads advertised data.
    static func connection(
        _ node: ProfileNode?, root: ProfileNode, match: DeviceMatch, readings: [String], hasAdverts: Bool
    ) -> DeviceConnection {
        var connection = DeviceConnection()
        let members =
            node?.members([
                "reads", "subscriptions", "recordAccess", "clock", "presence", "expectedInterval", "bond", "opening", "keepAlive",
                "closing", "dialogue", "writes", "memory", "accompanies",
            ]) ?? [:]
        connection.serial = serial(members)
        connection.reads = characteristics(members["reads"], match)
        connection.writes = (members["writes"]?.elements() ?? []).compactMap { write($0, match) }
        connection.recordAccess = members["recordAccess"]?.choice(DeviceConnection.RecordAccess.self)
        if let node = members["dialogue"] {
            connection.dialogue = node.text().flatMap { DeviceConnection.Dialogue(rawValue: $0) }
            if connection.dialogue == nil, connection.serial.dialogue == nil {
                let names =
                    DeviceConnection.Dialogue.allCases.map(\.rawValue) + SerialConversation.Dialogue.allCases.map(\.rawValue)
                node.problem("must be one of \(names.joined(separator: ", "))")
            }
        }
        connection.memory = members["memory"].flatMap(memory)
        if (connection.memory != nil) != (connection.dialogue == .omronCuff) {
            (node ?? root).problem("memory and the dialogue omron-cuff belong together")
        }
        connection.clock = members["clock"]?.choice(DeviceConnection.Clock.self)
        connection.expectedInterval = members["expectedInterval"]?.integer(1...86_400)
        connection.accompanies = members["accompanies"]?.boolean() ?? false
        connection.needsBond = members["bond"]?.boolean() ?? false
        if let presence = members["presence"] {
            connection.presence = self.presence(presence)
        } else if hasAdverts, match.services.isEmpty {
            connection.presence = .adverts
        }
        if let subscriptions = members["subscriptions"] {
            connection.subscriptions = characteristics(subscriptions, match)
        } else if match.services.count == 1, connection.presence != .adverts {
            let read = Set(connection.reads.map(\.characteristic))
            connection.subscriptions = readings.filter { !read.contains($0) }
                .map { ProfileCharacteristic(service: match.services[0], characteristic: $0) }
        } else if match.services.count > 1, !readings.isEmpty, connection.presence != .adverts {
            (node ?? root).problem(
                "subscriptions is missing: with several services in match it must name the service of each characteristic")
        }
        return connection
    }

    /// Reads `{ mark: "7322", form: "big", users: ["02AC", "0824"], records: 100, block: 56, index: "0260", clock: "0276" }`.
    private static func memory(_ node: ProfileNode) -> DeviceConnection.Memory? {
        let members = node.members(["mark", "form", "users", "records", "block", "index", "clock"])
        func address(_ node: ProfileNode) -> Int? {
            guard let text = node.text(), text.utf8.count == 4, let number = UInt16(text, radix: 16) else {
                node.problem("an address is a number of four hexadecimal digits")
                return nil
            }
            return Int(number)
        }
        let users = (members["users"]?.elements() ?? []).compactMap(address)
        guard let mark = members["mark"]?.bytes(), mark.count == 2,
            let form = members["form"]?.choice(DeviceConnection.Memory.Form.self), !users.isEmpty,
            let records = members["records"]?.integer(1...1000), let block = members["block"]?.integer(1...56)
        else {
            node.problem("mark, form, users, records and block are needed")
            return nil
        }
        return DeviceConnection.Memory(
            mark: mark, form: form, users: users, records: records, block: block, index: members["index"].flatMap(address),
            clock: members["clock"].flatMap(address))
    }

    /// Reads `{ to: "1A10/2A11", octets: "55AA90" }`.
    private static func write(_ node: ProfileNode, _ match: DeviceMatch) -> ProfileWrite? {
        let members = node.members(["to", "octets"])
        guard let characteristic = characteristics(members["to"], match).first,
            let bytes = members["octets"]?.bytes(), bytes.count <= 512
        else {
            node.problem("to (a characteristic) and octets (at most 512) are required")
            return nil
        }
        return ProfileWrite(characteristic: characteristic, bytes: bytes)
    }

    private static func characteristics(_ node: ProfileNode?, _ match: DeviceMatch) -> [ProfileCharacteristic] {
        (node?.elements() ?? []).compactMap { element in
            guard let text = element.text() else { return nil }
            let parts = text.uppercased().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            if parts.count == 2, parts.allSatisfy(isUUID) {
                return ProfileCharacteristic(service: parts[0], characteristic: parts[1])
            }
            if parts.count == 1, isUUID(parts[0]), match.services.count == 1 {
                return ProfileCharacteristic(service: match.services[0], characteristic: parts[0])
            }
            element.problem("service and characteristic are expected here, such as 180D/2A37")
            return nil
        }
    }

    /// Reads `"stay"`, `"adverts"`, or `{ leave: { quiet: 30, rest: 300 } }`.
    private static func presence(_ node: ProfileNode) -> DeviceConnection.Presence {
        if case .string(let text) = node.value {
            switch text {
            case "stay": return .stay
            case "adverts": return .adverts
            default: node.problem("must be stay, adverts or {leave: {quiet, rest}}")
            }
            return .stay
        }
        let leave = node.members(["leave"])["leave"]?.members(["quiet", "rest"]) ?? [:]
        guard let quiet = leave["quiet"]?.integer(1...86_400), let rest = leave["rest"]?.integer(0...86_400) else {
            node.problem("leave needs quiet and rest, in seconds")
            return .stay
        }
        return .leave(quiet: quiet, rest: rest)
    }
}
