// The interfaces between the stages, each in its own file. Data flows along this line, and answers come back as return values:
//
//     FrameSource ─ RawFrame ─▶ FrameInterpreter ─ Reading ─▶ Normaliser ─ Sample ─▶ Gate ─▶ SampleSink   …   Exporter

/// Delivers frames in the order in which they were made. It knows files, radios and serial lines, and nothing of their contents.
public protocol FrameSource {
    /// Calls `handle` for each frame until there are no more. An error from `handle` ends the loop and is rethrown.
    /// - Throws: ``SourceError`` if the rest cannot be read. Every frame before that place has been delivered.
    func forEachFrame(_ handle: (RawFrame) throws -> Void) throws

    /// The contents of the source that no frame delivers. Complete once ``forEachFrame(_:)`` has reached the end.
    var unread: Unread { get }
}

extension FrameSource {
    /// Most sources deliver everything.
    public var unread: Unread { Unread() }
}
