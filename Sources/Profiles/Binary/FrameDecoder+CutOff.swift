import Wire

/// Frames that are longer than the link's MTU: ATT cuts a notification at the MTU less 3 octets (Core specification, vol 3, part F, 3.4.7.1),
/// wherever in a value that is.
extension FrameDecoder {
    /// Whether the frame ends before a whole value of a list, with whole values before it. Then the rest is named in the frame and passed over.
    ///
    ///     16 48 0C 03 FF   flags, 72 /min, one interval, and half of the next
    ///
    /// - Parameter size: octets of a whole value.
    func isCut(_ step: LayoutStep, _ size: Int, _ reader: inout ByteReader, _ frame: inout DecodedFrame) -> Bool {
        let isList = step.repetition == .toTheEnd || step.kind == .records
        guard isList, !isStrict, reader.remaining < size,
            frame.entries.contains(where: { $0.kind != .record && $0.kind != .word })
        else { return false }
        let offset = reader.offset
        let octets = reader.octets(reader.remaining).map { Array($0) } ?? []
        frame.cutOff = DecodedFrame.CutOff(field: name(step), offset: offset, octets: octets)
        return true
    }
}
