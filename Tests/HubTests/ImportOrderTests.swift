import FoundationEssentials
import HealthModel
import Hub
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

/// The order in which files arrive does not matter: all pairs of the exports in `Tests/VitalgateTests/Published` that have a type in common
/// give the same store in both orders.
@Suite struct ImportOrderTests {
    private static let root = Checkout.root + "/Tests/VitalgateTests/Published/exports/"

    static let files: [String] = {
        var found: [String] = []
        func look(in folder: String) {
            for name in ((try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []).sorted() {
                if name.contains(".") { found.append(folder + name) } else { look(in: folder + name + "/") }
            }
        }
        look(in: "")
        return found
    }()

    /// The types of each file that a profile reads.
    private static let types: [String: Set<SampleType>] = files.reduce(into: [:]) { types, file in
        let content = try? Self.content(of: [file])
        if let content, !content.types.isEmpty { types[file] = content.types }
    }

    /// The content of a store, as text that can be compared.
    private struct Content: Equatable {
        var types: Set<SampleType> = []
        var lines: [String] = []
    }

    private static func content(of files: [String]) throws -> Content {
        let folder = try TemporaryFolder()
        let begin = FixedClock().now
        let store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: OneReadingTests.person, time: begin.microseconds))
        let zone = TimeZoneRules(fixed: .utc)
        for (index, file) in files.enumerated() {
            let time = Instant(microseconds: begin.microseconds + Int64(index) * 3_600_000_000)
            let reading = try FileReading(
                path: root + file, options: ReadingOptions(), library: Checkout.library,
                registry: OriginRegistry(person: store.owner), received: time)
            _ = try ImportService(store: store, now: { time }, zone: zone).run(reading, received: time)
        }
        return try content(of: store, zone)
    }

    private static func content(of store: SampleStore, _ zone: TimeZoneRules) throws -> Content {
        var content = Content()
        let cursor = try store.samples.cursor(matching: SampleQuery())
        while let sample = try cursor.next()?.sample {
            content.types.insert(sample.origin.type)
            let value = "\(sample.value) \(sample.unit.code)"
            content.lines.append("\(sample.origin.type.id) \(value) \(sample.start) \(sample.end) \(sample.identity)")
            for link in try store.duplicates.explain(sample.identity)?.linked ?? [] {
                content.lines.append("link \(sample.identity) \(link.other.uuid) \(link.rule)")
            }
        }
        cursor.close()
        for type in content.types where type.kind == .quantity || type.kind == .category {
            let query = StatisticsQuery(type: type, intervals: CalendarIntervals(.day, zone: zone))
            for day in try store.statistics(query) {
                // The last digits of a sum depend on the order of the terms.
                let amounts = [day.sum, day.average, day.minimum, day.maximum, day.duration].map { $0.map(rounded) ?? "" }
                let value = day.value.map { "\($0)" } ?? ""
                content.lines.append("day \(type.id) \(day.start) \(value) \(day.count) \(amounts.joined(separator: " "))")
            }
        }
        content.lines.sort()
        return content
    }

    private static func rounded(_ amount: Double) -> String { "\((amount * 1e6).rounded() / 1e6)" }

    @Test(arguments: files) func eachPairInBothOrders(file: String) throws {
        guard let types = Self.types[file] else { return }
        for other in Self.types.keys.sorted() where other > file {
            guard Self.types[other]?.isDisjoint(with: types) == false else { continue }
            let (one, two) = try (Self.content(of: [file, other]).lines, Self.content(of: [other, file]).lines)
            let difference = Set(one).symmetricDifference(two).sorted()
            #expect(one == two, "\(file) \(other)\n\(difference.joined(separator: "\n"))")
        }
    }

    @Test func thePublishedExportsAreRead() {
        #expect(Self.files.count > 50 && Self.types.count > 30)
    }
}
