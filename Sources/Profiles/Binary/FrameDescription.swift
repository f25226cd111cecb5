import HealthModel

/// What a frame without readings says of readings of other frames: where the sensor sits, or before which meal it was.
public struct FrameDescription: Sendable {
    /// How far what is said reaches.
    public enum Span: String, Sendable, CaseIterable {
        /// All readings of the device from now on, until it says otherwise.
        case device
        /// The readings of the record that the frame belongs to.
        case record
    }

    /// How far it reaches.
    public var span: Span
    /// The types that it is about.
    public var types: [SampleType]
    /// None where the frame says nothing that has a key.
    public var metadata: Metadata?
}

extension BinaryInterpreter {
    /// What the frame that was decoded last says of others' readings.
    public func frameDescription() -> FrameDescription? {
        guard let description = channel.description else { return nil }
        var maker = MetadataMaker(description.metadata, plan: channel.plan)
        // That a bit of this frame is reserved says nothing of the others.
        let ofFrame: Set<String> = ["reservedBits", "cutOff"]
        let said = maker.metadata(frame.word, frame, -1, nil)?.entries.filter { !ofFrame.contains($0.key) } ?? []
        return FrameDescription(
            span: description.span, types: description.types,
            metadata: said.isEmpty ? nil : Metadata(said.map { ($0.key, $0.value) }))
    }

    /// The number that the device keeps while it repeats the frame that was decoded last.
    public var packetNumber: Int64? {
        guard let packet = channel.packet else { return nil }
        return frame.entries.last { $0.field == packet && $0.kind == .number }?.raw
    }

    /// Whether the frame that was decoded last is one of two that make one measurement.
    public var isPart: Bool { channel.part?.holds(frame.word) ?? false }
}
