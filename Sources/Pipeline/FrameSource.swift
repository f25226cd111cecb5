// The seams between the stages, each a file. Data goes down this line, and answers come back as return values:
//
//     FrameSource ─ RawFrame ─▶ FrameInterpreter ─ Reading ─▶ Normaliser ─ Sample ─▶ Gate ─▶ SampleSink   …   Exporter

/// Delivers frames in the order in which they were made. Knows files, radios and wires, and no heart rates.
public protocol FrameSource {
    /// Calls `handle` for each frame until there are no more. What `handle` throws ends the reading and comes back as it is.
    /// - Throws: ``SourceError`` where the rest cannot be read; every frame before that place has been delivered.
    func forEachFrame(_ handle: (RawFrame) throws -> Void) throws

    /// What the source has that comes in no frame; complete once ``forEachFrame(_:)`` has come to the end.
    var unread: Unread { get }
}

extension FrameSource {
    /// Most deliver all there is.
    public var unread: Unread { Unread() }
}
