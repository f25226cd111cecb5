import HealthModel
import Pipeline

/// Decides whether the timestamps of records are believed while the device's clock is known: a clock that is right now was not right for a record
/// that was made before it was set.
///
/// A record is doubted if it would lie in the future, if it has a maker's default date, or if it lies more than a day before a record with a
/// lower number.
struct RecordOrder: Codable, Equatable {
    /// The highest record that was believed: its number and its start, in microseconds.
    private var number: Int64?
    private var start: Int64?

    /// - Parameter isLate: whether the clock is known to be more than a day behind, so that a default date is corrected.
    /// - Returns: why the timestamp is doubted; `nil` if it is believed.
    mutating func doubt(
        shown: WallTime, start: Instant, number: Int64?, isLate: Bool, received: Instant
    ) -> ClockDoubt? {
        let late = received.microseconds &- start.microseconds
        if late < -StampTrust.fresh { return .order }
        if late >= StampTrust.fresh, StampTrust.isDefaultDate(shown), !isLate { return .defaultDate }
        guard let number else { return nil }
        if let last = self.number, let high = self.start, number > last, start.microseconds < high &- Calendar.day {
            return .order
        }
        if number >= self.number ?? .min { (self.number, self.start) = (number, start.microseconds) }
        return nil
    }

    /// The hub's clock was set by this number of microseconds.
    mutating func clockWasSet(by step: Int64) { if let start { self.start = start &+ step } }
}

/// Compares the timestamps of a whole memory with the order of its records.
///
/// A memory is read from its oldest or its newest record, or from any record if it is a ring. If the timestamps do not run in one direction, the longest
/// run that does is believed, and a record more than a day outside of it is doubted. A timestamp that three records have is of a clock that stands.
enum MemoryOrder {
    /// Marks the samples of records that are doubted; they are in the order in which the device sent them.
    static func evaluate(_ memory: inout [GatedSample]) {
        var records: [(stamp: Int64, indices: Range<Int>)] = []
        for index in memory.indices where memory[index].stamp != nil {
            let stamp = memory[index].sample.nominalStart
            if let last = records.last, last.stamp == stamp, memory[last.indices.lowerBound].place == memory[index].place {
                records[records.count - 1].indices = last.indices.lowerBound..<index + 1
            } else {
                records.append((stamp, index..<index + 1))
            }
        }
        let open = records.indices.filter { memory[records[$0].indices].contains { $0.stamp?.isTrusted == true } }
        let stamps = open.map { records[$0].stamp }
        var untrusted = outsiders(of: stamps)
        var counts: [Int64: Int] = [:]
        for stamp in stamps { counts[stamp, default: 0] += 1 }
        for index in stamps.indices where counts[stamps[index], default: 0] >= 3 { untrusted.insert(index) }
        var wrong = Set(untrusted.map { stamps[$0] })
        // A timestamp is as doubtful as the same one of another record.
        for index in records.indices where memory[records[index].indices].contains(where: { $0.stamp?.isTrusted == false }) {
            wrong.insert(records[index].stamp)
        }
        for index in open where wrong.contains(records[index].stamp) {
            for member in records[index].indices {
                memory[member].doubt(.order)
            }
        }
    }

    /// Positions of timestamps outside of the longest run.
    static func outsiders(of stamps: [Int64]) -> Set<Int> {
        let falls = stamps.indices.dropFirst().filter { stamps[$0] < stamps[$0 - 1] &- Calendar.day }
        let rises = stamps.indices.dropFirst().filter { stamps[$0] > stamps[$0 - 1] &+ Calendar.day }
        guard let first = stamps.first, let last = stamps.last, !falls.isEmpty, !rises.isEmpty else { return [] }
        // A ring that is read from its middle.
        if falls.count == 1, last <= first { return [] }
        if rises.count == 1, last >= first { return [] }
        let (forward, backward) = (run(stamps), run(stamps.map { -$0 }))
        let retained = forward.count >= backward.count ? forward : backward
        let isForward = forward.count >= backward.count
        var outside: Set<Int> = []
        var next = 0
        for index in stamps.indices {
            if next < retained.count, retained[next] == index {
                next += 1
                continue
            }
            let (before, after) = (
                next > 0 ? stamps[retained[next - 1]] : nil, next < retained.count ? stamps[retained[next]] : nil
            )
            let (low, high) = isForward ? (before, after) : (after, before)
            if let low, stamps[index] < low &- Calendar.day { outside.insert(index) }
            if let high, stamps[index] > high &+ Calendar.day { outside.insert(index) }
        }
        return outside
    }

    /// Positions of the longest run that does not fall.
    private static func run(_ values: [Int64]) -> [Int] {
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: values.count)
        for index in values.indices {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] <= values[index] { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var positions: [Int] = []
        var position = ends.last
        while let current = position {
            positions.append(current)
            position = before[current]
        }
        return positions.reversed()
    }
}

extension GatedSample {
    /// Quarantines the sample for its timestamp, and keeps why, unless the clock is only not compared yet.
    mutating func doubt(_ doubt: ClockDoubt) {
        stamp?.doubt = doubt
        if rule == nil { rule = .clockUnknown }
        guard doubt != .notCompared else { return }
        let entries = sample.metadata?.entries.map { ($0.key, $0.value) } ?? []
        sample.metadata = Metadata(entries + [(ClockDoubt.key, .string(doubt.rawValue))])
    }
}
