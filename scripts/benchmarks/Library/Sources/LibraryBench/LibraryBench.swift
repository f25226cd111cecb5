import Glibc
import HealthModel
import HealthStore

/// `LibraryBench STORE WHAT [TYPE]… [COUNT]`: a number a line, milliseconds unless said otherwise.
@main struct LibraryBench {
    static func main() async throws {
        let words = CommandLine.arguments
        let (path, what) = (words[1], words[2])
        let types = words.dropFirst(3).compactMap { SampleType($0) }
        let count = words.last.flatMap { Int($0) } ?? 1
        switch what {
        case "range": try await range(HealthStore(path: path), types[0], count)
        case "recent": try await recent(HealthStore(path: path), types, count)
        case "observe": try await observe(HealthStore(path: path), types[0], count)
        case "save": try await save(path, types[0], count)
        case "stream": try await stream(HealthStore(path: path), types[0], by: [])
        case "sorted": try await stream(HealthStore(path: path), types[0], by: [SampleOrder(.value)])
        default: print("there is no '\(what)'")
        }
    }

    /// By the machine's clock that nobody sets, which all of its programs share.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    /// 1,000 samples of a stretch of 2025, another one each time.
    private static func range(_ store: HealthStore, _ type: SampleType, _ count: Int) async throws {
        var state: UInt64 = 1
        for _ in 0..<count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let day = Int64(state >> 33) % 360
            // From seven in the morning on: the hours in which the series has its samples.
            let start = Instant(seconds: 1_735_689_600 + day * 86_400 + 7 * 3600 + Int64(state >> 40) % 3000)
            let query = SampleQueryDescriptor(
                predicate: .and([
                    .types([type]), .predicateForSamples(withStart: start, end: Instant(seconds: 1_767_225_600), options: .strictStartDate),
                ]), limit: 1000)
            let begun = now()
            let found = try await query.result(for: store)
            print(now() - begun, found.count)
        }
    }

    /// The latest of each type, one question a type.
    private static func recent(_ store: HealthStore, _ types: [SampleType], _ count: Int) async throws {
        for _ in 0..<count {
            for type in types {
                let query = SampleQueryDescriptor(predicate: .types([type]), newestFirst: true, limit: 1)
                let begun = now()
                let found = try await query.result(for: store)
                print(now() - begun, found.count)
            }
        }
    }

    /// At once, whoever reads it.
    private static func say(_ line: String) {
        _ = (line + "\n").withCString { write(1, $0, strlen($0)) }
    }

    /// The clock at each update.
    private static func observe(_ store: HealthStore, _ type: SampleType, _ count: Int) async throws {
        let updates = try await ObserverQueryDescriptor(types: [type]).results(for: store)
        say("ready")
        var seen = 0
        for try await _ in updates {
            say("\(now())")
            seen += 1
            if seen == count { return }
        }
    }

    /// The clock at the end of each save, which is durable then; one a tenth of a second.
    private static func save(_ path: String, _ type: SampleType, _ count: Int) async throws {
        let store = try HealthStore(path: path, access: .write(as: SourceRevision(id: "bench", name: "Bench")))
        for index in 0..<count {
            let time = Instant(seconds: 1_780_000_000 + Int64(index) * 60)
            try await store.save(.quantity(type, try Amount(60, "/min"), from: time))
            print(now())
            usleep(100_000)
        }
    }

    /// How many there are; its memory is what is measured.
    private static func stream(_ store: HealthStore, _ type: SampleType, by order: [SampleOrder]) async throws {
        var count = 0
        for try await _ in SampleQueryDescriptor(predicate: .types([type]), sortDescriptors: order).results(for: store) { count += 1 }
        print(count)
    }
}
