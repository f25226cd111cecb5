import HealthModel

/// A frame without readings that describes the readings of other frames, for example the sensor's location or the meal they belong to.
package struct FrameDescription: Sendable {
    /// The readings that a description applies to.
    package enum Span: String, Sendable, CaseIterable {
        /// All later readings of the device, until the next description.
        case device
        /// The readings of the record that the frame belongs to.
        case record
    }

    /// The readings that the description applies to.
    package var span: Span
    package var types: [SampleType]
    /// The metadata for those readings, or nil if the frame contains none.
    package var metadata: Metadata?
}

extension BinaryInterpreter {
    /// Returns the last decoded frame's description of other readings, or nil if the channel has none.
    package func frameDescription() -> FrameDescription? {
        guard let description = channel.description else { return nil }
        var maker = MetadataMaker(description.metadata, plan: channel.plan)
        // A reserved bit in this frame does not affect the other frames.
        let ofFrame: Set<String> = ["reservedBits", "cutOff"]
        let described = maker.metadata(frame.word, frame, -1, nil)?.entries.filter { !ofFrame.contains($0.key) } ?? []
        return FrameDescription(
            span: description.span, types: description.types,
            metadata: described.isEmpty ? nil : Metadata(described.map { ($0.key, $0.value) }))
    }

    /// The number that the device keeps while it repeats the last decoded frame.
    package var packetNumber: Int64? {
        guard let packet = channel.packet else { return nil }
        return frame.entries.last { $0.field == packet && $0.kind == .number }?.raw
    }

    /// Whether the last decoded frame is one of two that make one measurement.
    package var isPart: Bool { channel.part?.matches(frame.word) ?? false }
}
