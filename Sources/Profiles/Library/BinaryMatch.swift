import Wire

/// Which profile reads a channel of octets.
public struct BinaryMatch: Sendable {
    /// The one that reads it.
    public var profile: Profile
    var channel: BinaryChannel

    /// `gatt:2A37`
    public var channelName: String { channel.name }
    /// How its frames are found in a stream; none where a transport delivers them whole.
    public var framing: Framing? { channel.plan.framing }
    /// How octets are sent, on a serial line.
    public var port: SerialSettings? { channel.port }
    /// Equal readings that come within so many seconds of those that were taken are the same measurement, sent again.
    public var repeatsWithin: Int { channel.repeatsWithin }

    /// Whether octets may be a frame of the channel, as far as can be told without a key.
    ///
    /// - Parameter address: the sender's 6 octets as they are printed; nil where it is not known.
    public func mayRead(_ octets: [UInt8], address: [UInt8]? = nil) -> Bool {
        let decoder = FrameDecoder(plan: channel.plan, isStrict: false, secrets: FrameSecrets(address: address))
        var frame = DecodedFrame()
        return octets.withUnsafeBytes { bytes in
            do throws(FrameError) {
                try decoder.decode(bytes, into: &frame)
                return true
            } catch {
                return error.reason == .keyMissing
            }
        }
    }
}

extension ProfileLibrary {
    /// Finds the profile that reads a channel.
    ///
    /// - Parameters:
    ///   - channel: `gatt:2A37` or `advert:FCD2`, in any case.
    ///   - id: the profile, where a person named it.
    public func match(channel: String, profile id: String? = nil) throws(ProfileMatchError) -> BinaryMatch {
        if let id {
            guard let profile = self[id] else { throw .noSuchProfile(id: id) }
            guard let match = profile.match(channel: channel) else { throw .noChannel(channel, of: id) }
            return match
        }
        let matches = profiles.compactMap { $0.match(channel: channel) }
        if matches.isEmpty, let own = serial(channel) { return own }
        guard let match = matches.first else { throw .noChannel(channel, of: nil) }
        guard matches.count == 1 else { throw .severalMatch(ids: matches.map(\.profile.id)) }
        return match
    }

    /// All profiles that read a channel: many devices say different things under one company's number.
    ///
    /// - Parameter name: the device's, which leaves out profiles that know their devices by other names.
    public func matches(channel: String, name: String? = nil) -> [BinaryMatch] {
        profiles.filter { profile in
            if let name, profile.match.excludes(name: name) { return false }
            guard let name, !(profile.match.names.isEmpty && profile.match.wholeNames.isEmpty) else { return true }
            return profile.match.fits(name: name)
        }.compactMap { $0.match(channel: channel) }
    }

    /// `serial:contec-cms50d`: the one channel of that profile.
    private func serial(_ channel: String) -> BinaryMatch? {
        guard channel.hasPrefix("serial:"), let profile = self[String(channel.dropFirst(7))],
            let name = profile.serialChannels.first, profile.serialChannels.count == 1
        else { return nil }
        return profile.match(channel: name)
    }

    /// The channels of a family of serial devices, `serial:CMS50` for `serial:CMS50-5` and `serial:CMS50-9`; or just this one.
    public func serialFamily(_ channel: String) -> [String] {
        let known = binaryChannels.filter { $0.hasPrefix("serial:") }
        let name = channel.lowercased()
        if known.contains(where: { $0.lowercased() == name }) { return [channel] }
        return known.filter { $0.lowercased().hasPrefix(name + "-") }
    }

    /// The channels of octets that some profile reads, in order.
    public var binaryChannels: [String] { Set(profiles.flatMap { $0.binaries.map(\.name) }).sorted() }
}

extension Profile {
    /// How this profile reads a channel of octets, if it does.
    public func match(channel: String) -> BinaryMatch? {
        let name = channel.lowercased()
        return binaries.first { $0.name.lowercased() == name }.map { BinaryMatch(profile: self, channel: $0) }
    }

    /// The channels of octets that it reads.
    public var binaryChannels: [String] { binaries.map(\.name) }

    /// Whether any of its channels of octets makes readings, so that a device is adopted for it.
    public var hasBinaryReadings: Bool { binaries.contains { !$0.readings.isEmpty || $0.measurements != nil } }

    /// Whether its readings tell of the device itself alone, its battery, and of nobody.
    public var tellsOnlyOfDevice: Bool {
        hasBinaryReadings && binaries.allSatisfy { $0.measurements == nil && $0.readings.allSatisfy { $0.type == .batteryLevel } }
    }

    /// The characteristics, without `gatt:`, that say something of what others send: where the sensor sits, when its session began.
    public var describingCharacteristics: Set<String> {
        Set(
            binaries.filter { $0.session != nil || $0.description?.span == .device }.map(\.name)
                .filter { $0.hasPrefix("gatt:") }.map { String($0.dropFirst(5)) })
    }

    /// The channels of serial lines, in the profile's order.
    public var serialChannels: [String] { binaries.map(\.name).filter { $0.hasPrefix("serial:") } }
}
