import Pipeline

/// The interface of a recording to ``Replay``, whichever program made it.
protocol ReplayFeed: AnyObject {
    var head: CaptureHead { get }
    /// Notes for the user about missing parts.
    var notes: [String] { get }
    /// The place after the last complete line or packet, if the file is cut off there.
    var cut: Place? { get }
    /// Passes on all validated lines in order, from the beginning each time.
    func forEachLine(_ body: (ReplayLine) throws -> Void) throws
}

struct ReplayLine {
    var line: CaptureLine
    var bytes: [UInt8] = []
    var place: Place
    /// The index of its file among those that are read.
    var part = 0
}
