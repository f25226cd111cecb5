/// The points of a series, as columns of numbers with one row per point.
///
/// A series' body contains this as JSON under `points`, followed by the packed numbers. The column ``Points/time`` is in microseconds after
/// the sample's start, so that a repair of time also moves the points.
public struct Points: Hashable, Sendable, Codable {
    /// One number of each point.
    public struct Column: Hashable, Sendable, Codable {
        /// The name as in lines: `latitude`, `speed`, `voltage`.
        public var name: String
        /// A UCUM code, or `nil` if it is not an amount.
        public var unit: String?

        /// A column with its name.
        public init(_ name: String, unit: String? = nil) { (self.name, self.unit) = (name, unit) }
    }

    /// The name of the column of times.
    public static let time = "time"

    /// The columns, in the order of the numbers.
    public var columns: [Column]
    /// The number of points.
    public var count: Int

    /// Points with these columns and this count.
    public init(columns: [Column], count: Int) { (self.columns, self.count) = (columns, count) }
}

/// Packs the points of a series incrementally.
///
///     var writer = PointsWriter(columns: [.init("time"), .init("latitude", unit: "deg"), .init("longitude", unit: "deg")])
///     try writer.append([time, latitude, longitude])
///     let (points, content) = try writer.end()
///
/// Numbers keep their digits, up to 18 of them. Each is written as a varint whose two lowest bits contain the encoding:
///
///     0  the difference to the previous number of its column, with the same exponent
///     1  a different exponent, followed by the coefficient as its own varint
///     2  no number
///     3  the difference to the extrapolation of the two previous numbers
///
/// Differences, coefficients and exponents use zigzag encoding: the lowest bit is the sign.
public struct PointsWriter {
    /// The maximum number of columns of a series.
    public static let maximumColumns = 32

    private let columns: [Points.Column]
    private var writer = ContentWriter()
    private var state: [PointColumnState]
    /// A buffer for a stretch and a point, of which the first ``used`` bytes are pending. Appending to an array byte by byte would be
    /// slower.
    private var bytes: [UInt8]
    private var used = 0
    private var column = 0
    /// The number of points so far.
    public private(set) var count = 0

    private static let chunk = 32 << 10

    /// A writer without points.
    public init(columns: [Points.Column]) {
        self.columns = columns
        state = Array(repeating: PointColumnState(), count: columns.count)
        bytes = Array(repeating: 0, count: Self.chunk + columns.count * PointColumnState.maximumLength)
    }

    /// Adds a point.
    ///
    /// - Parameter numbers: One number for each column, or `nil` if the point does not have it.
    /// - Throws: ``ContentError/tooLong``.
    public mutating func append(_ numbers: [Numeral?]) throws(ContentError) {
        for index in columns.indices { try append(number: index < numbers.count ? numbers[index] : nil) }
    }

    /// Adds a point number by number, in the order of the columns. The last one completes it.
    ///
    /// - Parameter number: The number, or `nil` if the point does not have it.
    /// - Throws: ``ContentError/tooLong``.
    public mutating func append(number: Numeral?) throws(ContentError) {
        var end = used
        bytes.withUnsafeMutableBufferPointer { state[column].write(number, to: $0, at: &end) }
        used = end
        column += 1
        guard column == state.count else { return }
        column = 0
        count += 1
        if end >= Self.chunk { try flush() }
    }

    private mutating func flush() throws(ContentError) {
        try writer.append(Array(bytes[..<used]))
        used = 0
    }

    /// Returns the points. Nothing may be added afterwards.
    public mutating func end() throws(ContentError) -> (points: Points, content: PackedContent) {
        try flush()
        return (Points(columns: columns, count: count), try writer.end())
    }
}

/// Reads the points of a series one by one.
///
///     var reader = try PointsReader(points, content)
///     while let point = try reader.next() { … }
public struct PointsReader {
    private let points: Points
    private var reader: ContentReader
    private var state: [PointColumnState]
    private var bytes: ArraySlice<UInt8> = []
    private var isDry = false
    private var given = 0

    /// - Throws: ``ContentError``.
    public init(_ points: Points, _ content: PackedContent) throws(ContentError) {
        guard points.columns.count <= PointsWriter.maximumColumns else { throw .damaged }
        self.points = points
        reader = try ContentReader(content)
        state = Array(repeating: PointColumnState(), count: points.columns.count)
    }

    /// The next point with a number for each column, or `nil` at the end.
    ///
    /// - Throws: ``ContentError/damaged``.
    public mutating func next() throws(ContentError) -> [Numeral?]? {
        // An upper bound for the length of a point.
        while !isDry, bytes.count < 24 * state.count {
            guard let chunk = try reader.next() else {
                isDry = true
                break
            }
            bytes = ArraySlice(Array(bytes) + chunk)
        }
        guard given < points.count else {
            guard isDry, bytes.isEmpty else { throw .damaged }
            return nil
        }
        var numbers: [Numeral?] = []
        numbers.reserveCapacity(state.count)
        var varints = VarintReader(bytes)
        for index in state.indices { numbers.append(try state[index].read(&varints)) }
        bytes = varints.rest
        given += 1
        return numbers
    }
}

/// The prediction of the next number in a column from the previous ones.
private struct PointColumnState {
    private var last: Int64 = 0
    private var step: Int64 = 0
    private var exponent: Int16 = 0

    /// The maximum number of bytes of a number: two varints.
    static let maximumLength = 20

    mutating func write(_ number: Numeral?, to point: UnsafeMutableBufferPointer<UInt8>, at end: inout Int) {
        func append(_ number: UInt64) {
            var rest = number
            while rest >= 0x80 {
                point[end] = UInt8(truncatingIfNeeded: rest) | 0x80
                end += 1
                rest >>= 7
            }
            point[end] = UInt8(rest)
            end += 1
        }
        guard let number, let (coefficient, exponent) = Self.parts(of: number) else { return append(2) }
        let difference = coefficient.subtractingReportingOverflow(last)
        let bend = difference.partialValue.subtractingReportingOverflow(step)
        guard exponent == self.exponent, !difference.overflow, Self.fits(difference.partialValue) else {
            append(Self.zigzag(Int64(exponent)) << 2 | 1)
            append(Self.zigzag(coefficient))
            (last, step, self.exponent) = (coefficient, 0, exponent)
            return
        }
        if !bend.overflow, bend.partialValue.magnitude < difference.partialValue.magnitude {
            append(Self.zigzag(bend.partialValue) << 2 | 3)
        } else {
            append(Self.zigzag(difference.partialValue) << 2)
        }
        (last, step) = (coefficient, difference.partialValue)
    }

    mutating func read(_ bytes: inout VarintReader) throws(ContentError) -> Numeral? {
        guard let word = bytes.next() else { throw .damaged }
        let number = Self.unzigzag(word >> 2)
        switch word & 3 {
        case 0: step = number
        case 1:
            guard let coefficient = bytes.next(), number <= 0, number >= -400 else { throw .damaged }
            (last, step, exponent) = (Self.unzigzag(coefficient), 0, Int16(number))
            return Numeral(coefficient: last, exponent: exponent)
        case 2: return nil
        default: step = step &+ number
        }
        last = last &+ step
        return Numeral(coefficient: last, exponent: exponent)
    }

    /// The coefficient and an exponent of at most 0. Numbers with too many digits are rounded to a Double. Returns `nil` for 10^18 and
    /// more, which exceeds all measurements.
    private static func parts(of number: Numeral) -> (Int64, Int16)? {
        if number.isExact, number.exponent <= 0 { return (number.coefficient, number.exponent) }
        let plain = Numeral(shortest: number.doubleValue)
        return plain.isExact && plain.exponent <= 0 ? (plain.coefficient, plain.exponent) : nil
    }

    /// Whether there is room for two more bits and the sign.
    private static func fits(_ number: Int64) -> Bool { number.magnitude < 1 << 60 }

    private static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }
    private static func unzigzag(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
}

extension Numeral {
    /// The shortest decimal numeral that reads back as this value.
    public init(shortest value: Double) {
        if value.rounded(.towardZero) == value, value.magnitude < 1e15 {
            self.init(coefficient: Int64(value))
            return
        }
        // The description is a plain decimal or has an exponent. Either way it is short and well-formed.
        let text = value.description
        guard let read = try? Numeral(text), read.isExact else {
            self.init(coefficient: 0)
            return
        }
        let (coefficient, exponent) = read.reduced
        guard exponent <= 0 else {
            self = read
            return
        }
        self.init(coefficient: coefficient, exponent: exponent)
    }
}
