import HealthModel
import Pipeline

/// The description of one device or file format, from one JSON5 file. See `docs/reference/profiles.md`.
package struct Profile: Sendable {
    /// The id, such as `withings-weight`, which is also the file's name.
    package var id: String
    package var name: String
    package var version: String
    package var links: [String]
    package var file: String
    /// Names of its channels: `csv`, `json`, `gatt:2A37`.
    package var channels: [String]
    /// The rules that identify the profile's devices.
    package var match: DeviceMatch
    /// Makers and models that the profile reads, for users who look for their device.
    package var devices: [ProfileDevice]
    package var connection: DeviceConnection
    var tables: [TableChannel]
    var binaries: [BinaryChannel]
    /// In a database: tables without readings, and columns of any table that have no meaning by themselves.
    var ignoredTables: [String] = []
    var ignoredColumns: [String] = []
    /// Earlier errors and their repairs.
    package var corrections: [ProfileCorrection]
    /// Files and their expected readings.
    package var vectors: [ProfileVector]
    /// Frames and their expected readings.
    package var frameVectors: [FrameVector]

    /// The maximum size of a profile file in bytes.
    static let maximumLength = 1 << 20

    /// More than any device has. The limit exists because each channel is compared with all others.
    static let maximumChannels = 256

    /// Reads a profile from JSON5.
    ///
    /// - Throws: ``ProfileErrors`` with every problem and its key.
    package init(json5 bytes: [UInt8], file: String) throws(ProfileErrors) {
        let root: JSONValue
        do throws(ProfileProblem) {
            guard bytes.count <= Self.maximumLength else {
                throw ProfileProblem("", "the file is longer than \(Self.maximumLength) bytes")
            }
            root = try JSONValue.parse(json5: bytes)
        } catch {
            throw ProfileErrors([ProfileProblem(error.keyPath, error.message, file: file)])
        }
        let log = ProfileNode.Log()
        let node = ProfileNode(root, log: log)
        let members = node.members([
            "id", "name", "version", "links", "devices", "match", "connection", "channels", "procedures", "corrections",
            "ignored",
            "vectors",
        ])
        for key in ["id", "name", "version", "channels"] where members[key] == nil { node.problem("\(key) is missing") }
        id = members["id"]?.text() ?? ""
        name = members["name"]?.text() ?? ""
        version = members["version"]?.text() ?? ""
        links = members["links"]?.texts() ?? []
        self.file = file
        match = ConnectionReader.match(members["match"])
        devices = (members["devices"]?.elements() ?? []).compactMap { ProfileDevice($0) }
        connection = DeviceConnection()
        channels = []
        tables = []
        binaries = []
        (corrections, vectors, frameVectors) = ([], [], [])
        if !id.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0 &- 0x30 < 10 || $0 &- 0x61 < 26 }) || id.isEmpty {
            members["id"]?.problem("an id contains only lower-case letters, digits and hyphens")
        }
        if let ignored = members["ignored"]?.members(["tables", "columns"]) {
            ignoredTables = ignored["tables"]?.texts() ?? []
            ignoredColumns = ignored["columns"]?.texts() ?? []
        }
        let channelNodes = members["channels"]?.elements() ?? []
        if channelNodes.count > Self.maximumChannels {
            members["channels"]?.problem("a profile has at most \(Self.maximumChannels) channels")
        }
        for channel in channelNodes.prefix(Self.maximumChannels) {
            guard case .object(let object) = channel.value, let names = object["channel"] else {
                channel.problem("a channel is an object with the key channel")
                continue
            }
            if case .array = names {
                readKin(channel)
                continue
            }
            guard case .string(let kind) = names else {
                channel.problem("channel is a text, or a list of texts for binary channels with the same layout")
                continue
            }
            channels.append(kind)
            if BinaryChannel.prefixes.contains(where: kind.hasPrefix) {
                if binaries.contains(where: { $0.name == kind }) { channel.problem("the channel \(kind) is listed twice") }
                binaries.append(BinaryChannelReader(node: channel, profile: (id, name, version)).read(kind))
                continue
            }
            // Other parts read the channels of other transports. Their keys are not checked here.
            guard let kind = TableChannel.Kind(rawValue: kind) else { continue }
            tables.append(TableChannelReader(node: channel, profileID: id, profileName: name).read(kind))
        }
        // A serial device sends what its profile describes, so two serial channels could not be distinguished.
        if binaries.count(where: { $0.name.hasPrefix("serial:") }) > 1 {
            members["channels"]?.problem("a profile has one serial channel: write a profile for each kind of device")
        }
        connection = ConnectionReader.connection(
            members["connection"], root: node, match: match,
            readings: binaries.filter { $0.name.hasPrefix("gatt:") && !$0.readings.isEmpty }.map { String($0.name.dropFirst(5)) },
            hasAdverts: binaries.contains { $0.name.hasPrefix("advert:") })
        for node in members["corrections"]?.elements() ?? [] {
            guard let correction = ProfileCorrection(node, profile: id) else { continue }
            if corrections.contains(where: { $0.id == correction.id }) { node.problem("this id is listed twice") }
            corrections.append(correction)
        }
        let vectors = members["vectors"]?.elements() ?? []
        self.vectors = vectors.filter { !FrameVector.isOne($0) }.compactMap { ProfileVector($0) }
        frameVectors = vectors.filter(FrameVector.isOne).compactMap { FrameVector($0) }
        let problems = log.problems(asideFromOpen: node.open)
        guard problems.isEmpty else {
            throw ProfileErrors(problems.map { ProfileProblem($0.keyPath, $0.message, file: file) })
        }
    }

    /// Reads several binary channels with one layout, for example the company numbers that one maker uses.
    private mutating func readKin(_ node: ProfileNode) {
        let names = node.anyMembers()["channel"]?.texts() ?? []
        guard !names.isEmpty, names.count + binaries.count <= Self.maximumChannels,
            names.allSatisfy({ $0.hasPrefix("advert:") || $0.hasPrefix("gatt:") })
        else {
            return node.problem("a list of channels contains only adverts and characteristics, at most \(Self.maximumChannels)")
        }
        var channel = BinaryChannelReader(node: node, profile: (id, name, version)).read(names[0])
        channel.kin = names[0]
        for name in names {
            if binaries.contains(where: { $0.name == name }) { node.problem("the channel \(name) is listed twice") }
            channel.name = name
            channels.append(name)
            binaries.append(channel)
        }
    }
}
