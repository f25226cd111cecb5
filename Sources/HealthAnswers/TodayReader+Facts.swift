import HealthModel
import Pipeline
import SampleStore

extension TodayReader {
    private static let hour: Int64 = 3_600_000_000

    /// The facts for the sentence at the top of Today: the unusual ones, those of the last night and the day so far, and the usual one.
    ///
    /// - Parameters:
    ///   - types: The readings of each type today.
    ///   - goals: The daily goals in canonical units.
    ///   - isDoubtful: Whether readings of a type need a decision.
    ///   - source: The name of a sample's source.
    package func facts(
        of types: [TypeToday], person: String, at now: Instant, goals: [SampleType: Double], isDoubtful: (SampleType) -> Bool,
        source: (Sample) -> String
    ) throws(StoreError) -> [TodayFact] {
        let midnight = figures.midnight(of: now)
        let byType = Dictionary(types.map { ($0.type, $0) }) { first, _ in first }
        func known(_ id: String) -> TypeToday? { SampleType(id).flatMap { byType[$0] } }
        let newest = types.max { $0.latest.sample.end < $1.latest.sample.end }
        let unusual = [
            TodayFact.silence(
                latest: newest?.latest.sample.end, source: newest.map { source($0.latest.sample) } ?? "", midnight: midnight),
            try temperature(known("bodyTemperature"), now), try glucose(known("bloodGlucose"), midnight, now),
        ]
        let sleep = known("sleepAnalysis")
        let night =
            sleep?.night.flatMap { night in
                TodayFact.night(
                    asleep: night.asleep, end: Instant(microseconds: night.end), typical: sleep?.typical, midnight: midnight,
                    now: now)
            } ?? TodayFact.missingNight(lastEnd: sleep?.latest.sample.end, midnight: midnight, now: now)
        let steps = known("stepCount").flatMap { each in
            each.soFar.flatMap { TodayFact.total(of: each.type, $0, goal: goals[each.type]) }
        }
        let isMorning = now.microseconds - midnight.microseconds < 12 * Self.hour
        let weight = known("bodyMass")
        let isWeighedInMornings = weight.map { clock($0.latest.sample.start) < 12 * Self.hour } ?? false
        let trend = weight.flatMap {
            isWeighedInMornings && !isDoubtful($0.type) ? TodayFact.trend(of: $0.type, $0.alike, leastChange: 0.1) : nil
        }
        let typical = ["bodyMass", "restingHeartRate"].compactMap { known($0) }.compactMap { each in
            each.alike.last.flatMap { $0 }.flatMap { value in
                each.typical.map { (type: each.type, value: value, typical: $0) }
            }
        }
        return TodayFact.chosen(
            unusual: unusual,
            of: (isMorning ? [night, steps] : [steps, night]) + [
                try pressure(known(BloodPressure.type), person, midnight, now), trend,
            ],
            typical: TodayFact.asUsual(typical))
    }

    /// The time since midnight in microseconds.
    private func clock(_ instant: Instant) -> Int64 { instant.microseconds - figures.midnight(of: instant).microseconds }

    private func temperature(_ today: TypeToday?, _ now: Instant) throws(StoreError) -> TodayFact? {
        guard let latest = today?.latest.sample else { return nil }
        func site(_ sample: Sample) -> MetadataValue? { sample.metadata?["bodyTemperatureSensorLocation"] }
        let query = SampleQuery(
            types: [latest.origin.type], from: Instant(microseconds: latest.start.microseconds - 6 * Self.hour), to: latest.start,
            person: latest.origin.person, where: figures.conditions[latest.origin.type], descending: true)
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var earlier: TodayFact.Reading?
        while earlier == nil, let other = try cursor.next()?.sample {
            guard Self.isAlike(other, latest), site(other) == site(latest) else { continue }
            earlier = (other.start, other.value)
        }
        return .temperature((latest.start, latest.value), earlier: earlier, now: now)
    }

    private func glucose(_ today: TypeToday?, _ midnight: Instant, _ now: Instant) throws(StoreError) -> TodayFact? {
        guard let latest = today?.latest.sample else { return nil }
        let query = SampleQuery(
            types: [latest.origin.type], from: midnight, to: now, person: latest.origin.person,
            where: figures.conditions[latest.origin.type])
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var readings: [TodayFact.Reading] = []
        while let other = try cursor.next()?.sample {
            if Self.isAlike(other, latest) { readings.append((other.start, other.value)) }
        }
        return .lowGlucose(readings, midnight: midnight, now: now)
    }

    /// Whether two samples are of the same source and device.
    private static func isAlike(_ one: Sample, _ other: Sample) -> Bool {
        one.origin.source.id == other.origin.source.id && one.origin.device?.key == other.origin.device?.key
    }

    /// The pressures between four o'clock and noon.
    private func pressure(
        _ today: TypeToday?, _ person: String, _ midnight: Instant, _ now: Instant
    ) throws(StoreError) -> TodayFact? {
        guard today != nil else { return nil }
        let days = figures.days
        let last = days.index(of: now)
        var mornings: [Int: [BloodPressure]] = [:]
        let readings = try BloodPressure.readings(
            of: person, from: days.start(of: last - 29), to: now, in: store, where: figures.conditions)
        for (time, pressure, _) in readings
        where (4 * Self.hour..<12 * Self.hour).contains(clock(time)) {
            mornings[last - days.index(of: time), default: []].append(pressure)
        }
        return .pressure(
            mornings.map { daysAgo, all in
                let count = Double(all.count)
                return (
                    daysAgo, all.reduce(0) { $0 + $1.systolic } / count, all.reduce(0) { $0 + $1.diastolic } / count
                )
            })
    }
}
