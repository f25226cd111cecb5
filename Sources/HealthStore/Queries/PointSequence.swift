import HealthModel
import SampleStore

/// A point of a series, with its numbers by column name.
struct Point {
    let numbers: [String: Double]
    /// The point's time, or `nil` if the series has no times.
    let time: Instant?

    subscript(name: String) -> Double? { numbers[name] }
}

/// The points of one object, unpacked on request, so that a day's route is never in memory as a whole.
///
/// The sequence throws `CancellationError` if the task is cancelled, and ``HealthStoreError/noSuchObject`` if the object does not
/// exist.
public struct PointSequence<Element: Sendable>: AsyncSequence, Sendable {
    let store: HealthStore
    let uuid: SampleIdentity
    /// Opens an object's points.
    let read: @Sendable (Sample) throws -> Source

    struct Source: Sendable {
        var points: Points
        var content: PackedContent
        var start: Instant
        /// Converts a point to an element. `nil` skips the point.
        var element: @Sendable (_ point: Point, _ index: Int) -> Element?
    }

    public func makeAsyncIterator() -> Iterator { Iterator(store: store, uuid: uuid, read: read) }

    /// The iterator over the points.
    public struct Iterator: AsyncIteratorProtocol {
        let store: HealthStore
        let uuid: SampleIdentity
        let read: @Sendable (Sample) throws -> Source
        private var source: Source?
        private var reader: PointsReader?
        private var index = 0

        init(store: HealthStore, uuid: SampleIdentity, read: @escaping @Sendable (Sample) throws -> Source) {
            (self.store, self.uuid, self.read) = (store, uuid, read)
        }

        public mutating func next() async throws -> Element? {
            if reader == nil {
                let (uuid, read) = (uuid, read)
                let source = try await store.readers.read { store in
                    guard let found = try store.samples.sample(uuid) else { throw HealthStoreError.noSuchObject }
                    return try read(found.sample)
                }
                reader = try PointsReader(source.points, source.content)
                self.source = source
            }
            while let source, let numbers = try reader?.next() {
                try Task.checkCancellation()
                let element = source.element(Self.point(numbers, of: source), index)
                index += 1
                if let element { return element }
            }
            return nil
        }

        private static func point(_ numbers: [Numeral?], of source: Source) -> Point {
            var named: [String: Double] = [:]
            var time: Instant?
            for (column, number) in zip(source.points.columns, numbers) {
                guard let number else { continue }
                named[column.name] = number.doubleValue
                guard column.name == Points.time, let after = Int64(exactly: number.doubleValue.rounded()) else { continue }
                time = Instant(microseconds: source.start.microseconds &+ after)
            }
            return Point(numbers: named, time: time)
        }
    }
}

extension Sample {
    /// The body and its packed content.
    ///
    /// - Throws: ``HealthStoreError/noSuchObject`` if the sample is of another kind, and `ContentError` if it is damaged.
    func content(of kind: SampleKind) throws -> (body: SampleBody, content: PackedContent) {
        guard origin.kind == kind, let body else { throw HealthStoreError.noSuchObject }
        guard let content = body.content else { throw ContentError.damaged }
        return (body, content)
    }
}
