import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Anchors against a model of histories: writers that take turns, copies of the file, and stores put back from them.
@Suite struct AnchorModelTests {
    /// A reader and the changes that it has seen.
    private struct Reader {
        var anchor: Anchor
        var seen: [SampleIdentity]
    }

    private static func refused(_ store: SampleStore, _ anchor: Anchor) throws -> Bool {
        let error = thrown(StoreError.self) { try store.changes.read(after: anchor, types: nil) { _, _ in } }
        if let error { #expect(error.kind == .invalid) }
        return error != nil
    }

    /// An anchor is accepted if and only if all changes that its reader has seen are in the store's history. Nothing is lost, and no reader
    /// starts again without need.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func anAnchorIsOfAHistory(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let maker = try SampleMaker()
        var number = 0
        var history: [SampleIdentity] = []
        var writers = [try TestStore.open(path), try TestStore.open(path)]
        var copies: [(file: String, history: [SampleIdentity])] = []
        var readers: [Reader] = []
        for step in 0..<60 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let file = folder.file("copy\(step).db")
                try writers[0].checkpoint()
                try copy(path, to: file)
                copies.append((file, history))
            case 1:
                guard let chosen = copies.randomElement(using: &random) else { continue }
                writers = []
                for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
                try copy(chosen.file, to: path)
                history = chosen.history
                writers = [try TestStore.open(path), try TestStore.open(path)]
            case 2: writers[1] = try TestStore.open(path)
            case 3: _ = try writers[0].rehearse { try Self.keep(1, &number, maker, in: writers[0]) }
            case 4:
                var seen: [SampleIdentity] = []
                let stop = Int.random(in: 0...max(0, history.count), using: &random)
                var anchor = Anchor.beginning
                try writers[1].changes.read(after: .beginning, types: nil) { change, after in
                    guard seen.count < stop, case .added(let stored) = change else { return }
                    seen.append(stored.uuid)
                    anchor = after
                }
                #expect(Anchor(anchor.description) == anchor)
                readers.append(Reader(anchor: anchor, seen: seen))
            default:
                let writer = writers[Int.random(in: 0..<2, using: &random)]
                history += try Self.keep(Int.random(in: 1...3, using: &random), &number, maker, in: writer)
            }
            for reader in readers {
                let isPart = history.starts(with: reader.seen)
                #expect(try Self.refused(writers[0], reader.anchor) == !isPart, "seed \(seed), step \(step), \(reader.anchor)")
                guard isPart else { continue }
                var rest: [SampleIdentity] = []
                try writers[1].changes.read(after: reader.anchor, types: nil) { change, _ in
                    if case .added(let stored) = change { rest.append(stored.uuid) }
                }
                #expect(reader.seen + rest == history)
            }
        }
        #expect(try writers[0].check() == [])
    }

    private static func keep(
        _ count: Int, _ number: inout Int, _ maker: SampleMaker, in store: SampleStore
    ) throws -> [SampleIdentity] {
        let ingest = try store.beginIngest(TestStore.description())
        let samples = try (0..<count).map { try maker("72", at: Double(number + $0)) }
        number += count
        #expect(try ingest.store(samples).allSatisfy { $0 == .stored })
        _ = try ingest.finish(at: 0)
        return samples.map(\.sample.identity)
    }

    private func copy(_ source: String, to target: String) throws {
        let (from, to) = (open(source, O_RDONLY), creat(target, 0o600))
        defer {
            close(from)
            close(to)
        }
        try #require(from >= 0 && to >= 0)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(from, &buffer, buffer.count), count > 0 { try #require(write(to, buffer, count) == count) }
    }

    @Test(arguments: [
        "1", "", "-", "00", "0123456789abcdef", "0123456789abcdef-", "0123456789abcdef-0", "0123456789abcdef-01",
        "0123456789abcdeF-1", "0123456789abcdef--1", "0123456789abcdef-99999999999999999999", "0123456789abcdef-1-1", " 0",
    ])
    func noise(text: String) { #expect(Anchor(text) == nil) }
}
