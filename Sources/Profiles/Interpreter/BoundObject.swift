import HealthModel
import Pipeline

/// Builds an object from a whole row: a category, such as a stage of sleep, or a workout with its figures.
final class BoundObject {
    /// The cell with the maker's word for the case, and the properties that any reading has.
    let reading: BoundReading
    private let cases: [String: Int]
    private let always: Int?
    private let isWorkout: Bool
    private let figures: [(part: FigureRule.Part, reading: BoundReading)]
    private let hasDuration: Bool

    init?(
        _ rule: ReadingRule, _ reading: BoundReading, _ figures: [(FigureRule.Part, BoundReading)], hasDuration: Bool
    ) {
        guard let cases = rule.cases, case .fixed(let type) = rule.type else { return nil }
        self.reading = reading
        self.cases = cases
        always = rule.always
        isWorkout = type.kind == .workout
        self.figures = figures
        self.hasDuration = hasDuration
    }

    var cells: [Int] { reading.cells + figures.flatMap(\.reading.cells) }

    /// Makes the reading of a row. An unknown word is not guessed: it gets the number -1, which is not a case, and the gate quarantines it.
    /// A hash of the word distinguishes two such readings.
    func made(
        _ cells: Cells, _ word: UnsafeRawBufferPointer, _ time: ReadingTime, _ resolution: Int32, _ signs: DecimalSigns,
        at place: Place
    ) throws(BoundTable.Failure) -> Reading {
        let number = always ?? (word.count <= 128 ? cases[String(decoding: word, as: UTF8.self)] : nil)
        var made = Reading(
            origin: try reading.origins.origin(cells), numeral: Numeral(coefficient: Int64(number ?? -1)), unit: .one, time: time,
            ordinal: number == nil ? Self.hash(word) : 0, metadata: reading.metadata.metadata(cells, limit: nil),
            timeResolution: resolution, place: place)
        if isWorkout {
            let workout = Workout(
                duration: hasDuration ? Self.duration(of: time) : nil, statistics: try statistics(cells, signs))
            guard let body = try? SampleBody(encoding: workout) else { throw .init("the workout cannot be stored") }
            made.body = body
        }
        return made
    }

    private func statistics(
        _ cells: Cells, _ signs: DecimalSigns
    ) throws(BoundTable.Failure) -> [Workout.Statistics] {
        var list: [Workout.Statistics] = []
        for (part, figure) in figures {
            let text = trimmed(cells[figure.cell])
            if figure.isEmpty(text) { continue }
            guard let numeral = try figure.numeral(text, signs: signs) else { continue }
            let amount = Amount(numeral, try figure.unit(cells))
            let type = try figure.origins.origin(cells).type.id
            if !list.contains(where: { $0.type == type }) { list.append(Workout.Statistics(type: type)) }
            for index in list.indices where list[index].type == type {
                switch part {
                case .sum: list[index].sum = amount
                case .average: list[index].average = amount
                case .minimum: list[index].minimum = amount
                case .maximum: list[index].maximum = amount
                }
            }
        }
        return list
    }

    private static func duration(of time: ReadingTime) -> Amount? {
        let length: Int64
        switch time {
        case .instants(let start, let end, _): length = end.microseconds &- start.microseconds
        case .wall(let start, let end, _): length = end.microseconds &- start.microseconds
        case .added, .complete, .receipt: return nil
        }
        return Amount(Numeral(shortest: Double(length) / 1e6), Workout.second)
    }

    /// Returns 31 bits of the FNV-1a hash.
    static func hash(_ text: UnsafeRawBufferPointer) -> UInt32 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return UInt32(truncatingIfNeeded: hash) & 0x7FFF_FFFF
    }
}
