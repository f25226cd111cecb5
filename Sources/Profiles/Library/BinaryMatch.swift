import Wire

/// The profile and the channel that read binary frames.
package struct BinaryMatch: Sendable {
    package var profile: Profile
    var channel: BinaryChannel

    /// The channel's name, such as `gatt:2A37`.
    package var channelName: String { channel.name }
    /// The framing of a stream, or nil if the transport delivers whole frames.
    package var framing: Framing? { channel.plan.framing }
    package var port: SerialSettings? { channel.port }

    /// Whether the bytes may be a frame of the channel, judged without a key.
    ///
    /// - Parameter address: the sender's 6 bytes in printed order, or nil if the address is not known.
    package func mayRead(_ bytes: [UInt8], address: [UInt8]? = nil) -> Bool {
        let decoder = FrameDecoder(plan: channel.plan, isStrict: false, secrets: FrameSecrets(address: address))
        var frame = DecodedFrame()
        return bytes.withUnsafeBytes { bytes in
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
    ///   - channel: a name such as `gatt:2A37` or `advert:FCD2`, in any case.
    ///   - id: the profile, if the user named it.
    package func match(channel: String, profile id: String? = nil) throws(ProfileMatchError) -> BinaryMatch {
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

    /// Returns all profiles that read a channel. Many devices send different data under the number of one company.
    ///
    /// - Parameter name: the device's name, which excludes profiles for devices with other names.
    package func matches(channel: String, name: String? = nil) -> [BinaryMatch] {
        profiles.filter { profile in
            if let name, profile.match.excludes(name: name) { return false }
            guard let name, !(profile.match.names.isEmpty && profile.match.wholeNames.isEmpty) else { return true }
            return profile.match.fits(name: name)
        }.compactMap { $0.match(channel: channel) }
    }

    /// Returns the only serial channel of a profile, for a name such as `serial:contec-cms50d`.
    private func serial(_ channel: String) -> BinaryMatch? {
        guard channel.hasPrefix("serial:"), let profile = self[String(channel.dropFirst(7))],
            let name = profile.serialChannels.first, profile.serialChannels.count == 1
        else { return nil }
        return profile.match(channel: name)
    }

    /// Returns the channels of a family of serial devices, such as `serial:CMS50` for `serial:CMS50-5` and `serial:CMS50-9`, or only the
    /// channel itself.
    package func serialFamily(_ channel: String) -> [String] {
        let known = binaryChannels.filter { $0.hasPrefix("serial:") }
        let name = channel.lowercased()
        if known.contains(where: { $0.lowercased() == name }) { return [channel] }
        return known.filter { $0.lowercased().hasPrefix(name + "-") }
    }

    /// The binary channels that some profile reads, sorted.
    package var binaryChannels: [String] { Set(profiles.flatMap { $0.binaries.map(\.name) }).sorted() }
}

extension Profile {
    /// Returns the match for a binary channel, or nil if this profile does not read it.
    package func match(channel: String) -> BinaryMatch? {
        let name = channel.lowercased()
        return binaries.first { $0.name.lowercased() == name }.map { BinaryMatch(profile: self, channel: $0) }
    }

    package var binaryChannels: [String] { binaries.map(\.name) }

    /// Whether any of its binary channels makes readings. A device is adopted only for such profiles.
    package var hasBinaryReadings: Bool { binaries.contains { !$0.readings.isEmpty || $0.measurements != nil } }

    /// Whether the device may encrypt its frames, so that its key is needed.
    package var hasEncryptedFrames: Bool { binaries.contains { $0.plan.steps.contains { $0.kind == .sealed } } }

    /// Whether its readings describe only the device itself (its battery) and no person.
    package var describesOnlyDevice: Bool {
        hasBinaryReadings && binaries.allSatisfy { $0.measurements == nil && $0.readings.allSatisfy { $0.type == .batteryLevel } }
    }

    /// The characteristics, without `gatt:`, that describe other frames, for example the sensor's location or the start of its session.
    package var describingCharacteristics: Set<String> {
        Set(
            binaries.filter { $0.session != nil || $0.description?.span == .device }.map(\.name)
                .filter { $0.hasPrefix("gatt:") }.map { String($0.dropFirst(5)) })
    }

    /// The serial channels, in the profile's order.
    package var serialChannels: [String] { binaries.map(\.name).filter { $0.hasPrefix("serial:") } }
}
