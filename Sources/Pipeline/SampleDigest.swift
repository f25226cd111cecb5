/// The samples of a type that began on a UTC day, as a number and a hash. Equal digests of a store and its target show that their samples are
/// equal, so that only those of other days are compared one by one.
public struct SampleDigest: Hashable, Sendable {
    /// A UTC day and a type.
    public struct Place: Hashable, Comparable, Sendable {
        /// Days since 1970-01-01.
        public var day: Int
        /// The id of the type.
        public var type: String

        /// A place by its parts.
        public init(day: Int, type: String) { (self.day, self.type) = (day, type) }

        /// Sorts by day, and then by the bytes of the type.
        public static func < (one: Place, other: Place) -> Bool {
            one.day != other.day ? one.day < other.day : one.type.utf8.lexicographicallyPrecedes(other.type.utf8)
        }
    }

    /// The day and type.
    public var place: Place
    /// The number of samples.
    public var count: Int
    /// The sum of their hashes, without carry (``ComparableExporter/print(of:)``).
    public var print: UInt64

    /// A digest by its parts.
    public init(_ place: Place, count: Int = 0, print: UInt64 = 0) {
        (self.place, self.count, self.print) = (place, count, print)
    }

    /// Adds a sample with this hash.
    public mutating func add(_ print: UInt64) {
        count += 1
        self.print &+= print
    }
}

/// An exporter whose target can sum up its contents by day and type.
public protocol DigestingExporter: ComparableExporter {
    /// Passes the digests of this store's samples at the target to `body`, in the order of their places.
    func digests(_ body: ([SampleDigest]) throws -> Void) throws

    /// Passes this store's samples of some days and types to `body`.
    func contents(of places: [SampleDigest.Place], _ body: ([TargetSample]) throws -> Void) throws
}
