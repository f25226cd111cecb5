import HealthModel

// The four seams between the stages. Data goes down this page, and answers come back as return values:
//
//     FrameSource ─ RawFrame ─▶ FrameInterpreter ─ Reading ─▶ Normaliser ─ QuantitySample ─▶ Gate ─▶ SampleSink

/// Delivers frames in the order in which they were made. Knows files, radios and wires, and no heart rates.
public protocol FrameSource {
    /// Calls `handle` for each frame until there are no more. What `handle` throws ends the reading and comes back as it is.
    /// - Throws: ``SourceError`` where the rest cannot be read; every frame before that place has been delivered.
    func forEachFrame(_ handle: (RawFrame) throws -> Void) throws
}

/// Turns frames of one channel into readings. All that is known of a device's format is here.
public protocol FrameInterpreter: AnyObject {
    /// Appends what the frame means to `readings`; appends nothing where it throws: a frame is taken whole or not at all.
    func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome
}

/// What became of a frame.
public enum FrameOutcome: Hashable, Sendable {
    case readings
    /// It holds no reading; counted in the ledger under this kind.
    case skipped(SkipKind)
    /// It is not data: a header, a blank line.
    case notData
}

/// Takes samples for good.
public protocol SampleSink: AnyObject {
    /// Keeps a batch durably, or nothing of it.
    /// - Returns: what became of each sample, in the order given.
    func store(_ batch: [GatedSample]) throws -> [SampleOutcome]
}

/// A sample and the gate's judgement of it.
public struct GatedSample: Sendable {
    /// The sample.
    public var sample: QuantitySample
    /// The rule that holds it back, where one does.
    public var rule: GateRule?
    /// What it is counted as where it is stored already, if its source repeats itself.
    public var repeats: SkipKind?
    /// Where in the source it stands.
    public var place: Place
    /// What arrived, kept where the gate holds the sample back.
    public var frame: FrameText?

    /// A sample with the gate's word.
    @inlinable public init(sample: consuming QuantitySample, rule: GateRule?, repeats: SkipKind?, place: Place) {
        self.sample = sample
        self.rule = rule
        self.repeats = repeats
        self.place = place
    }
}

/// A frame as a person can read it.
public final class FrameText: Sendable {
    /// Longest text kept, in characters.
    public static let maximumLength = 4096

    /// Octets in hexadecimal behind their channel, or a row's cells.
    public let text: String

    /// What a frame's payload holds.
    public init(_ frame: RawFrame) {
        switch frame.payload {
        case .bytes(let bytes):
            let digits = bytes.prefix(Self.maximumLength / 2).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            text = (frame.channel.isEmpty ? "" : frame.channel + " ") + digits.joined()
        case .row(let row):
            let cells = row.cells.indices.lazy.map { row.text($0) }
            var text = ""
            for cell in cells {
                guard text.count < Self.maximumLength else { break }
                if !text.isEmpty { text += "," }
                text += cell.prefix(Self.maximumLength - text.count)
            }
            self.text = text
        case .malformed(let reason): text = reason
        }
    }
}

extension Gate {
    /// Judges the samples that a frame made, and keeps the frame with those it holds back. Samples of earlier frames, released by this
    /// one, have none.
    @inlinable public func judge(_ batch: inout [GatedSample], from first: Int, of frame: RawFrame) {
        for index in first..<batch.count {
            guard let rule = rule(against: batch[index].sample) else { continue }
            batch[index].rule = rule
            if batch[index].place == frame.place { batch[index].frame = FrameText(frame) }
        }
    }
}

/// Where a reading ended.
public enum SampleOutcome: Hashable, Sendable {
    case stored
    /// Its UUID is stored already, or was and is deleted.
    case duplicate
    case quarantined
}

/// A source cannot go on.
public struct SourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can do something about.
    public enum Kind: Hashable, Sendable {
        /// There is nothing to read from: no such file, no permission.
        case noInput
        /// What is there is not what it should be.
        case malformed
        /// The reading itself failed.
        case inputOutput
    }

    /// What kind of error.
    public var kind: Kind
    /// What went wrong.
    public var reason: String
    /// How far the source was read.
    public var place: Place?

    /// Makes an error.
    public init(_ kind: Kind, _ reason: String, at place: Place? = nil) {
        self.kind = kind
        self.reason = reason
        self.place = place
    }

    public var description: String { place.map { "\($0): \(reason)" } ?? reason }
}
