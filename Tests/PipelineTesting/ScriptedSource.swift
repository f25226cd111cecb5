import HealthModel
import Pipeline

/// A source that delivers the given frames, then fails if it has an error.
package struct ScriptedSource: FrameSource {
    package enum Payload: Sendable {
        case bytes([UInt8])
        case row([String])
    }

    package var frames: [(payload: Payload, place: Place)]
    package var failure: SourceError?
    package var received: Instant

    package init(_ frames: [(payload: Payload, place: Place)], received: Instant, failure: SourceError? = nil) {
        self.frames = frames
        self.received = received
        self.failure = failure
    }

    /// Rows of text, on lines from 1.
    package init(rows: [[String]], received: Instant, failure: SourceError? = nil) {
        self.init(rows.enumerated().map { (.row($1), Place(.line, $0 + 1)) }, received: received, failure: failure)
    }

    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let row = TextRow()
        for frame in frames {
            switch frame.payload {
            case .bytes(let bytes):
                try bytes.withUnsafeBytes { try handle(RawFrame(payload: .bytes($0), place: frame.place, received: received)) }
            case .row(let cells):
                // One buffer for all cells, overwritten by the next frame as a real source's is.
                let text = cells.map { Array($0.utf8) }
                try Array(text.joined()).withUnsafeBytes { buffer in
                    row.cells.removeAll(keepingCapacity: true)
                    var start = 0
                    for cell in text {
                        row.cells.append(UnsafeRawBufferPointer(rebasing: buffer[start..<start + cell.count]))
                        start += cell.count
                    }
                    try handle(RawFrame(payload: .row(row), place: frame.place, received: received))
                }
                row.cells.removeAll()
            }
        }
        if let failure { throw failure }
    }
}

/// An interpreter that looks up the result of a frame by its place.
package final class ScriptedInterpreter: FrameInterpreter {
    package enum Answer: Sendable {
        case readings([Reading])
        case skipped(SkipKind)
        case characteristics([Characteristic])
        case notData
        case refused(String)
    }

    private let answers: [Place: Answer]
    /// The requested places, in order.
    package private(set) var asked: [Place] = []

    package let written: Instant?

    /// - Parameter written: the time at which the input was written.
    package init(_ answers: [Place: Answer], written: Instant? = nil) { (self.answers, self.written) = (answers, written) }

    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        asked.append(frame.place)
        switch answers[frame.place] ?? .notData {
        case .readings(let intended):
            readings.append(contentsOf: intended)
            return .readings
        case .skipped(let kind): return .skipped(kind)
        case .characteristics(let reported): return .characteristics(reported)
        case .notData: return .notData
        case .refused(let reason): throw Refusal(reason, at: frame.place)
        }
    }
}
