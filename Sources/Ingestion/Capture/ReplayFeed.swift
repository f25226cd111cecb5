import Pipeline

/// What ``Replay`` needs of a recording, whichever program made it.
protocol ReplayFeed: AnyObject {
    var head: CaptureHead { get }
    /// What a person has to know of what is not there.
    var notes: [String] { get }
    /// Behind the last whole line or packet, where the file breaks off.
    var cut: Place? { get }
    /// Hands on all lines, checked, in their order, from the beginning each time.
    func forEachLine(_ body: (ReplayLine) throws -> Void) throws
}

/// A line that can be replayed, and where it stands.
struct ReplayLine {
    var line: CaptureLine
    var octets: [UInt8] = []
    var place: Place
    /// Of its file among those that are read.
    var part = 0
}
