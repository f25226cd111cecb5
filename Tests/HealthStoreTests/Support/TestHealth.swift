import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import HealthStore

/// A store in its own folder, at noon of 20 November 2026 in Berlin.
struct TestHealth {
    let folder: TemporaryFolder
    let store: HealthStore

    static let now = Instant(seconds: 1_795_172_400)
    static let source = SourceRevision(id: "app.walker", name: "Walker", version: "1")

    var path: String { folder.file("store.db") }

    init(now: Instant = Self.now) throws {
        folder = try TemporaryFolder()
        store = try HealthStore(
            path: folder.file("store.db"), access: .write(as: Self.source), creating: true, zone: try Self.berlin, now: { now })
    }

    static var berlin: TimeZoneRules {
        get throws { try #require(TimeZoneRules.named("Europe/Berlin")) }
    }

    /// The same store, opened by another process.
    func another(_ source: String? = nil) throws -> HealthStore {
        let access: HealthStore.Access = source.map { .write(as: SourceRevision(id: $0, name: $0)) } ?? .read
        return try HealthStore(path: path, access: access, zone: try Self.berlin, now: { Self.now })
    }

    /// - Parameter minutes: before noon.
    static func time(_ minutes: Int64) -> Instant { Instant(seconds: now.microseconds / 1_000_000 - minutes * 60) }

    static func steps(_ count: Int, _ minutes: Int64, lasting: Int64 = 1) -> HealthObject {
        .quantity(.stepCount, Amount(Numeral(coefficient: Int64(count)), .one), from: time(minutes), to: time(minutes - lasting))
    }

    static func pulse(_ rate: Int, _ minutes: Int64) throws -> HealthObject {
        .quantity(.heartRate, try Amount(Double(rate), "/min"), from: time(minutes))
    }

    /// The values of the store, in the order of their start.
    func values(_ type: SampleType) async throws -> [Double] {
        try await SampleQueryDescriptor(predicate: .types([type])).result(for: store).map(\.sample.value)
    }
}

/// The error of this type that the body throws. `nil` if it throws another one or none.
func thrown<Failure: Error>(_ type: Failure.Type, by body: () async throws -> Void) async -> Failure? {
    do {
        try await body()
        return nil
    } catch {
        return error as? Failure
    }
}
