import Pipeline

/// The frames of one device in a capture, for drafting a profile.
package struct CapturedFrames: Sendable {
    /// The name that the device reported, or `nil`. A name given by the user is not included.
    package private(set) var name: String?
    /// The frames by channel, in order of arrival.
    package private(set) var channels: [String: [[UInt8]]] = [:]

    /// The maximum number of frames of one channel.
    private static let maximum = 2000

    /// Reads a capture.
    ///
    /// - Parameter device: the address or name of the device, needed if the capture contains several.
    /// - Throws: ``SourceError`` if the file is not a capture, or contains several devices and none is named.
    package init(path: String, device wanted: String?) throws {
        var devices: [Int: CapturedDevice] = [:]
        var frames: [Int: [String: [[UInt8]]]] = [:]
        try CaptureReader(path: path).forEachLine { line in
            guard let number = line.line.device else { return }
            if let about = line.line.about { devices[number] = about }
            guard line.line.event == .frame, let channel = line.line.channel, line.line.bytes != nil,
                frames[number]?[channel]?.count ?? 0 < Self.maximum
            else { return }
            frames[number, default: [:]][channel, default: []].append(line.bytes)
        }
        let active = devices.filter { frames[$0.key] != nil }
        let intended = active.filter { wanted == nil || $0.value.address == wanted || $0.value.name == wanted }
        guard intended.count == 1, let only = intended.first else {
            let names = active.values.map(\.name).sorted().prefix(10).joined(separator: ", ")
            let reason =
                intended.isEmpty
                ? "it has no frames of this device" : "it has several devices: choose one with --device NAME"
            throw SourceError(.malformed, "\(path): \(reason)" + (names.isEmpty ? "" : " (\(names))"))
        }
        name = only.value.description?.name
        channels = frames[only.key] ?? [:]
    }
}
