import Testing

@testable import Wire

@Suite struct StreamFramerTests {
    /// The framings of included profiles, and the other ones of the language, each with a generator of valid frames.
    struct Kind: CustomTestStringConvertible, Sendable {
        var name: String
        var framing: Framing
        var frame: @Sendable (inout Noise) -> [UInt8]
        /// What noise has to end with so that it is not a frame's beginning.
        var noiseEnd: [UInt8] = []
        var testDescription: String { name }
    }

    static let five = Framing(
        .packet(
            PacketRule(
                marks: [.init(at: 0, mask: 0x80, value: 0x80)], others: .init(at: 0, mask: 0x80, value: 0), size: .fixed(5))))
    static let nonin = Framing(
        .packet(
            PacketRule(
                marks: [.init(at: 0, mask: 0x81, value: 0x81)], followingMarks: [.init(at: 0, mask: 0x81, value: 0x80)],
                size: .fixed(5), blocks: 25, check: .sum8)))
    static let lines = Framing(.delimited(by: 0x0A, lastMayLackEnd: false), maximum: 64)
    static let measured = Framing(
        .packet(
            PacketRule(
                marks: [.init(at: 0, value: 0xAA), .init(at: 1, value: 0x55)],
                size: .field(offset: 2, width: 1, bigEndian: false, plus: 4), check: .xor8)))

    static let kinds: [Kind] = [
        Kind(name: "a sync bit", framing: five) { noise in [noise.byte() | 0x80] + (0..<4).map { _ in noise.byte() & 0x7F } },
        Kind(
            name: "sizes by kind",
            framing: Framing(
                .packet(
                    PacketRule(
                        marks: [.init(at: 0, mask: 0x80, value: 0)], others: .init(at: 0, mask: 0x80, value: 0x80),
                        size: .byFirst([1: 9, 2: 4]))))
        ) { noise in
            let kind = noise.byte() % 2 + 1
            return [kind] + (0..<(kind == 1 ? 8 : 3)).map { _ in noise.byte() | 0x80 }
        },
        Kind(name: "blocks with sums", framing: nonin) { noise in
            (0..<25).flatMap { block -> [UInt8] in
                let start = [noise.byte() & 0x7E | (block == 0 ? 0x81 : 0x80)] + (0..<3).map { _ in noise.byte() }
                return start + [start.reduce(0) { $0 &+ $1 }]
            }
        },
        Kind(name: "a length field", framing: measured) { noise in
            let count = Int(noise.byte() % 40)
            let start = [0xAA, 0x55, UInt8(count)] + (0..<count).map { _ in noise.byte() }
            return start + [start.reduce(0) { $0 ^ $1 }]
        },
        Kind(
            name: "lines", framing: lines,
            frame: { noise in (0..<Int(noise.byte() % 60)).map { _ in noise.byte() % 90 + 0x20 } + [0x0A] }, noiseEnd: [0x0A]),
    ]

    /// Whatever is between frames, and in whichever pieces the stream arrives, each frame is found at its place, and every byte is returned
    /// once, in a frame or as skipped.
    @Test(arguments: kinds) func findsEveryFrameInNoise(kind: Kind) {
        for seed in 0..<40 as Range<UInt64> {
            var noise = Noise(seed: seed)
            var stream: [UInt8] = []
            var expected: [Int: [UInt8]] = [:]
            for _ in 0..<30 {
                let count = noise.byte() % 3 == 0 ? Int(noise.byte() % 100) : 0
                if count > 0 { stream += (0..<count).map { _ in noise.byte() } + kind.noiseEnd }
                let frame = kind.frame(&noise)
                expected[stream.count] = frame
                stream += frame
            }
            let whole = Self.events(kind.framing, [stream])
            for (offset, frame) in expected { #expect(whole.frames[offset] == frame, "seed \(seed), octet \(offset)") }
            #expect(whole.isGapless && whole.end == stream.count, "seed \(seed)")
            var pieces: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let count = min(Int(noise.byte() % 20) + 1, rest.count)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(Self.events(kind.framing, pieces) == whole, "seed \(seed)")
        }
    }

    /// A frame that is cut at the end of the stream is not a frame, and data after noise that looked like a long frame is not lost.
    @Test(arguments: kinds) func aCutFrameIsNone(kind: Kind) {
        var noise = Noise(seed: 7)
        let (first, second) = (kind.frame(&noise), kind.frame(&noise))
        for length in 0..<second.count {
            let found = Self.events(kind.framing, [first + second.prefix(length)])
            #expect(found.frames == [0: first], "cut to \(length)")
            #expect(found.isGapless && found.end == first.count + length)
            #expect(length == 0 || found.skipped == length)
        }
    }

    @Test func noiseThatClaimsALengthHidesNothing() {
        var noise = Noise(seed: 3)
        let frame = Self.kinds[3].frame(&noise)
        let found = Self.events(Self.measured, [[0xAA, 0x55, 0xF0] + frame])
        #expect(found.frames == [3: frame] && found.skipped == 3)
    }

    @Test func skipsEndlessLine() {
        var framer = StreamFramer(Self.lines)
        var skipped = 0
        var frames: [[UInt8]] = []
        let handle = { (event: StreamFramer.Event) in
            switch event {
            case .frame(let bytes, _): frames.append(Array(bytes))
            case .skipped(let run): skipped += run.count
            }
        }
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1000)
        for _ in 0..<1000 { chunk.withUnsafeBytes { framer.feed($0, handle) } }
        // It is reported while it lasts, and no part of its rest is read as a line.
        #expect(skipped >= 900_000 && frames.isEmpty)
        Array("still of it\nhello\n".utf8).withUnsafeBytes { framer.feed($0, handle) }
        #expect(frames == [Array("hello\n".utf8)] && skipped == 1_000_012)
    }

    @Test func lastLineMayLackLineBreak() {
        let framing = Framing(.delimited(by: 0x0A, lastMayLackEnd: true), maximum: 64)
        #expect(Self.events(framing, [Array("a\nb".utf8)], isCut: false).frames == [0: [0x61, 0x0A], 2: [0x62]])
        // Not if the device was unplugged, because it may be an incomplete line.
        #expect(Self.events(framing, [Array("a\nb".utf8)], isCut: true).frames == [0: [0x61, 0x0A]])
    }

    struct Events: Equatable {
        var frames: [Int: [UInt8]] = [:]
        var skipped = 0
        var end = 0
        var isGapless = true
    }

    private static func events(_ framing: Framing, _ pieces: [[UInt8]], isCut: Bool = true) -> Events {
        var events = Events()
        var framer = StreamFramer(framing)
        let handle = { (event: StreamFramer.Event) in
            switch event {
            case .frame(let bytes, let offset):
                if offset != events.end { events.isGapless = false }
                events.frames[offset] = Array(bytes)
                events.end = offset + bytes.count
            case .skipped(let run):
                if run.offset != events.end { events.isGapless = false }
                events.skipped += run.count
                events.end = run.offset + run.count
            }
        }
        for piece in pieces { piece.withUnsafeBytes { framer.feed($0, handle) } }
        framer.finish(isCut: isCut, handle)
        return events
    }
}

/// Bytes that are the same in every run (SplitMix64).
struct Noise: Sendable {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func byte() -> UInt8 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return UInt8(truncatingIfNeeded: mixed ^ mixed >> 31)
    }
}
