import Wire

/// Frames that are longer than the link's MTU. ATT truncates a notification at the MTU minus 3 bytes (Core specification, vol 3, part F,
/// 3.4.7.1), even in the middle of a value.
extension FrameDecoder {
    /// Whether the frame ends within a value of a list, after at least one whole value. If so, the rest is recorded in the frame and
    /// skipped.
    ///
    ///     16 48 0C 03 FF   flags, 72 /min, one interval, and half of the next
    ///
    /// - Parameter size: the size of a whole value in bytes.
    func isCut(_ step: LayoutStep, _ size: Int, _ reader: inout ByteReader, _ frame: inout DecodedFrame) -> Bool {
        let isList = step.repetition == .toTheEnd || step.kind == .records
        guard isList, !isStrict, reader.remaining < size,
            frame.entries.contains(where: { $0.kind != .record && $0.kind != .word })
        else { return false }
        let offset = reader.offset
        let bytes = reader.readBytes(reader.remaining).map { Array($0) } ?? []
        frame.cutOff = DecodedFrame.CutOff(field: name(step), offset: offset, bytes: bytes)
        return true
    }
}
