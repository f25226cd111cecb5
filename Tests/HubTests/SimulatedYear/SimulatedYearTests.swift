import Glibc
import HealthModel
import PipelineTesting
import SampleStore
import Testing

/// A year of a home, by the law of docs/reference/hub.md: a Pi without a clock, power cuts before and after the clock is set, two persons,
/// five devices, and a reader of the changes that is away for weeks.
///
/// | device | clock |
/// | --- | --- |
/// | a cuff that sends its memory again | always in winter time |
/// | a cuff that begins at its default date after a battery change, some with a memory | set after some weeks, and reset again |
/// | a thermometer | 20 minutes fast, changed twice a year |
/// | a meter whose clock can be read | 45 seconds slow, and used away from home |
/// | a scale | none |
///
/// Each true measurement is stored once, at its true time within the device's resolution, or it is quarantined with a reason. An observer
/// who knows the true times and values, and the content of the store, raises the same alerts. The values of a device are different, so that the
/// fate of each measurement is known. `VITALGATE_YEARS` sets the number of years (4), and `VITALGATE_SEED` the seed of the first (1).
/// With `VITALGATE_TRACE=1`, the test prints everything sent, stored, and raised.
@Suite struct SimulatedYearTests {
    private static func setting(_ name: String, _ value: UInt64) -> UInt64 {
        getenv(name).flatMap { UInt64(String(cString: $0)) } ?? value
    }

    @Test(arguments: [0, 1] as [UInt64]) func aYearOfAHome(half: UInt64) throws {
        let first = Self.setting("VITALGATE_SEED", 1)
        for seed in first..<first + Self.setting("VITALGATE_YEARS", 4) where seed % 2 == half {
            let year = try SimulatedYear(seed: seed)
            try year.run()
        }
    }
}

/// One year.
private final class SimulatedYear {
    private typealias Machine = SimulatedHome.Machine

    /// A measurement of a person.
    private final class Measurement {
        let machine: Machine
        /// The digits of the value (``SimulatedHome/Machine/digit``).
        let digits: Int
        let time: Int64
        /// The time on the device's clock.
        let shown: Int64
        /// When it reached the hub.
        var sent: Int64?
        /// Whether it was stored at some time.
        var isKnown = false

        init(_ machine: Machine, _ digits: Int, at time: Int64, shown: Int64) {
            (self.machine, self.digits, self.time, self.shown) = (machine, digits, time, shown)
        }
    }

    private static let start = FixedClock().now.microseconds
    private let seed: UInt64
    private let home: SimulatedHome
    private var random: SeededGenerator
    /// The values that a device has not measured yet.
    private var values: [Machine: [Int]] = [:]
    private var measurements: [Machine: [Measurement]] = [:]
    /// Records that a device has not sent yet.
    private var unsent: [Measurement] = []
    private var records = 0
    private var packets = 0
    /// The year of the date at which a cuff begins after its battery was changed.
    private var defaultYear: Int { seed % 3 == 0 ? 2027 : 2021 }
    /// The cuff began at its default date at this time, or its clock is right.
    private var reset: Int64?
    private var observers: [Machine: Observer] = [:]
    private var anchor = Anchor.beginning
    private var copy = Copy()

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        home = try SimulatedHome(start: Self.start)
        for machine in Machine.allCases {
            let range =
                switch machine {
                case .cuff, .resetCuff: 1000..<1900
                case .thermometer: 3500..<4100
                case .meter: 500..<1800
                case .scale: 6000..<6600
                }
            values[machine] = range.shuffled(using: &random)
        }
        for (machine, condition, bound) in [
            (Machine.cuff, Alert.Condition.above, 160.0), (.resetCuff, .above, 150), (.thermometer, .above, 38.5),
            (.meter, .below, 80),
            (.scale, .above, 64),
        ] {
            let id = try home.store.alerts.add(
                of: person(machine), type: Self.type(machine), condition, bound: bound, timing: .defaultTiming,
                at: Instant(microseconds: Self.start))
            observers[machine] = Observer(id: id) { condition == .above ? $0 > bound : $0 < bound }
        }
    }

    private static func type(_ machine: Machine) -> SampleType {
        switch machine {
        case .cuff, .resetCuff: .bloodPressureSystolic
        case .thermometer: .bodyTemperature
        case .meter: .bloodGlucose
        case .scale: .bodyMass
        }
    }

    private func person(_ machine: Machine) -> String { machine.isBens ? SimulatedHome.ben : OneReadingTests.person }

    private static let isTraced = getenv("VITALGATE_TRACE") != nil

    private func trace(_ text: @autoclosure () -> String) {
        guard Self.isTraced else { return }
        print("\(seed)| \(Instant(microseconds: home.now)) hub \(Instant(microseconds: home.clock.now.microseconds)) \(text())")
    }

    private func isAddition(_ change: SampleChange) -> Bool { if case .added = change { true } else { false } }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    // MARK: The year

    func run() throws {
        for day in 0..<365 {
            // Every tenth day has no measurement of the thermometer, and so on.
            let minutes = (0..<120).shuffled(using: &random).prefix(12).sorted()
            for slot in minutes {
                let time = Self.start + Int64(day) * Calendar.day + Int64(slot) * 12 * SimulatedHome.minute
                guard time > home.now else { continue }
                home.pass(until: time)
                try happen(day)
            }
            if chance(2) { try powerCut() }
            if chance(3) {
                trace("restart")
                try home.restart()
            }
            if chance(5) { try copy.follow(home.store) }
        }
        try transfer()
        home.synchronise()
        try waitUntilIdle()
        try copy.follow(home.store)
        try evaluate()
    }

    private func happen(_ day: Int) throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<3: try measure(.cuff)
        case 3: if Self.isOrdinary(home.now) { try measure(.cuff, isAway: true) }
        case 4..<6: try measure(.resetCuff)
        case 6..<8: try measure(.thermometer)
        case 8..<11: try measure(.meter, isAway: chance(50))
        case 11: try measure(.scale)
        case 12 where reset == nil && chance(4):
            reset = home.now
            trace("reset")
        case 12 where chance(10):
            if reset != nil { trace("set") }
            reset = nil
        default: break
        }
    }

    /// A time at which a cuff that is used away from home has been heard since the last change of the clocks, so that its error is known.
    private static func isOrdinary(_ time: Int64) -> Bool {
        let date = Calendar.date(days: Int(time / Calendar.day))
        return date.month != 4 && !(date.month == 3 && date.day > 20)
    }

    /// The time on the clock of a device.
    private func shown(_ machine: Machine, at time: Int64) -> Int64 {
        let local = Instant(microseconds: time).wallTime(at: home.zone.offset(at: Instant(microseconds: time))).microseconds
        switch machine {
        case .cuff: return time + SimulatedHome.hour
        case .resetCuff:
            let date = Int64(Calendar.days(year: defaultYear, month: 1, day: 1)) * Calendar.day
            return reset.map { date + SimulatedHome.minute + time - $0 } ?? local
        case .thermometer: return local + 20 * SimulatedHome.minute
        case .meter: return local - 45_000_000
        case .scale: return local
        }
    }

    private func measure(_ machine: Machine, isAway: Bool = false) throws {
        guard let digits = values[machine]?.popLast() else { return }
        let measurement = Measurement(machine, digits, at: home.now, shown: shown(machine, at: home.now))
        measurements[machine, default: []].append(measurement)
        if isAway, machine == .cuff { return }
        home.pass(5_000_000)
        switch machine {
        case .cuff,
            .resetCuff where seed % 2 == 1:
            // Its memory has four places, and is sent from the oldest record on.
            for each in measurements[machine, default: []].suffix(4) {
                send(each)
                home.pass(300_000)
            }
        case .meter:
            unsent.append(measurement)
            if !isAway { try transfer() }
        case .scale:
            packets += 1
            for _ in 0..<3 {
                send(measurement, number: packets)
                home.pass(2_000_000)
            }
        case .resetCuff, .thermometer: send(measurement)
        }
        try waitUntilIdle()
    }

    private func send(_ measurement: Measurement, number: Int = 0) {
        measurement.sent = measurement.sent ?? home.now
        trace(
            "send \(measurement.machine) \(measurement.digits) of \(Instant(microseconds: measurement.time)) shown \(Instant(microseconds: measurement.shown))"
        )
        home.send(measurement.machine, digits: measurement.digits, shown: measurement.shown, number: number)
    }

    /// The meter is connected.
    private func transfer() throws {
        trace("compare meter")
        home.compare(.meter, shown: shown(.meter, at: home.now))
        for each in unsent {
            send(each, number: records)
            records += 1
            home.pass(20_000)
        }
        unsent.removeAll()
        try waitUntilIdle()
    }

    /// The power fails, and may fail again before the clock is set.
    private func powerCut() throws {
        repeat {
            trace("cut")
            try home.cutPower(for: Int64.random(in: 1...300, using: &random) * SimulatedHome.minute)
            home.pass(SimulatedHome.minute)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                home.pass(Int64.random(in: 6...20, using: &random) * SimulatedHome.minute)
                try happen(0)
            }
            home.pass(SimulatedHome.minute)
        } while chance(30)
        home.synchronise()
        trace("synchronised")
        try waitUntilIdle()
    }

    // MARK: Alerts

    /// The readings are committed, and the alerts checked. That takes less than a minute.
    private func waitUntilIdle() throws {
        home.pass(31_000_000)
        var arrivals: [(measurement: Measurement, isAdded: Bool, age: Int64)] = []
        var last = anchor
        try home.store.changes.read(after: anchor, types: nil) { change, anchor in
            last = anchor
            if let found = find(change.sample) {
                trace(
                    "\(change.seq) \(isAddition(change) ? "added" : "deleted") \(found.machine) \(found.digits) at \(change.sample.start) of \(Instant(microseconds: found.time)) \(change.sample.timeOrigin)"
                )
                let age = change.sample.received.microseconds - change.sample.start.microseconds
                arrivals.append((found, isAddition(change), age))
            }
        }
        anchor = last
        for machine in Machine.allCases { observers[machine]?.begin() }
        for (index, (measurement, isAdded, age)) in arrivals.enumerated() {
            // A correction of the time adds it again.
            if !isAdded, !arrivals[index...].contains(where: { $0.measurement === measurement && $0.isAdded }) {
                observers[measurement.machine]?.withdraw(measurement.time)
            } else if isAdded, !measurement.isKnown {
                measurement.isKnown = true
                observers[measurement.machine]?.arrive(
                    Double(measurement.digits) * measurement.machine.digit, at: measurement.time, age: age)
            }
        }
        let events = try home.store.alerts.check(at: home.clock.now).events
        for machine in Machine.allCases {
            guard let observer = observers[machine] else { continue }
            let found = events.filter { $0.alert.id == observer.id }.map { $0.kind == .began }
            let right = observer.reported
            if !found.isEmpty || !right.isEmpty { trace("ALERT \(machine) \(found) right \(right)") }
            #expect(
                found == right, "seed \(seed), \(machine), \(Instant(microseconds: home.now)): \(found), right \(right)")
        }
    }

    private func find(_ sample: Sample) -> Measurement? {
        for machine in Machine.allCases where Self.type(machine) == sample.origin.type {
            guard sample.origin.person == person(machine) else { continue }
            let digits = Int((sample.value / machine.digit).rounded())
            return measurements[machine]?.first { $0.digits == digits }
        }
        return nil
    }

    // MARK: The judgement

    private func evaluate() throws {
        var stored: [Machine: [Int: [Int64]]] = [:]
        for type in Set(Machine.allCases.map(Self.type)) {
            let cursor = try home.store.samples.cursor(matching: SampleQuery(types: [type]))
            defer { cursor.close() }
            while let next = try cursor.next()?.sample {
                guard let found = find(next) else {
                    Issue.record("seed \(seed): \(type.id) \(next.value) of \(next.origin.person) was never measured")
                    continue
                }
                stored[found.machine, default: [:]][found.digits, default: []].append(next.start.microseconds)
            }
        }
        var quarantinedCounts: [Machine: [Int: Int]] = [:]
        for each in try home.store.quarantine.all() {
            #expect(!each.rule.isEmpty)
            guard Machine.allCases.map(Self.type).contains(each.stored.sample.origin.type), let found = find(each.stored.sample)
            else { continue }
            quarantinedCounts[found.machine, default: [:]][found.digits, default: 0] += 1
        }
        var (all, quarantined) = (0, 0)
        for measurement in measurements.values.joined() where measurement.sent != nil {
            let times = stored[measurement.machine]?[measurement.digits] ?? []
            let count = quarantinedCounts[measurement.machine]?[measurement.digits] ?? 0
            let name =
                "seed \(seed): \(measurement.machine) of \(Instant(microseconds: measurement.time)) with \(measurement.digits)"
            #expect(times.count + count == 1, "\(name) is stored \(times.count) times and held \(count) times")
            if let time = times.first {
                #expect(abs(time - measurement.time) <= 60_000_000, "\(name) is stored at \(Instant(microseconds: time))")
            }
            all += 1
            quarantined += count
        }
        #expect(quarantined * 10 < all, "seed \(seed): \(quarantined) of \(all) are quarantined")
        #expect(try copy.values == Copy.values(of: home.store), "seed \(seed)")
        try home.stop()
        #expect(try home.store.check(deep: true) == [])
        print("simulated year \(seed): \(all) measurements, \(quarantined) quarantined")
    }
}

/// A person who knows everything and watches one alert.
private struct Observer {
    let id: Int64
    private let isBeyond: (Double) -> Bool
    private var isRaised = false
    private var latest: Int64?
    private var readings: [Int64: Double] = [:]
    private var changes: [Bool] = []

    init(id: Int64, isBeyond: @escaping (Double) -> Bool) { (self.id, self.isBeyond) = (id, isBeyond) }

    /// The beginnings and ends of one look: those that end what began before, and the last episode.
    var reported: [Bool] {
        guard let last = changes.lastIndex(of: true) else { return changes }
        return changes.prefix { !$0 } + changes[last...]
    }

    mutating func begin() { changes.removeAll() }

    /// A reading is withdrawn into quarantine.
    mutating func withdraw(_ time: Int64) {
        readings[time] = nil
        guard time == latest else { return }
        latest = readings.keys.max()
        guard isRaised, !(latest.flatMap { readings[$0] }.map(isBeyond) ?? false) else { return }
        isRaised = false
        changes.append(false)
    }

    /// - Parameter age: its age when it arrived, by the hub's clock, because the hub knows no other one at that time.
    mutating func arrive(_ value: Double, at time: Int64, age: Int64) {
        guard age <= Calendar.day else { return }
        readings[time] = value
        if let latest, time < latest {
            // Neighboring readings give only one message.
            let before = readings.keys.filter { $0 < time && time - $0 <= Calendar.day }.max()
            let after = readings.keys.filter { $0 > time }.min()
            let isReported = [before, after].contains { $0.flatMap { readings[$0] }.map(isBeyond) ?? false }
            if !isRaised, isBeyond(value), !isReported { changes += [true, false] }
            return
        }
        latest = time
        guard isBeyond(value) != isRaised else { return }
        isRaised.toggle()
        changes.append(isRaised)
    }
}

/// The samples of a target that was away and then read the changes.
private struct Copy {
    private var samples: [SampleIdentity: Int64] = [:]
    private var anchor = Anchor.beginning

    var values: [SampleIdentity: Int64] { samples }

    mutating func follow(_ store: SampleStore) throws {
        var (copy, end) = (samples, anchor)
        try store.changes.read(after: anchor, types: nil) { change, after in
            switch change {
            case .added(let stored): copy[stored.uuid] = stored.sample.start.microseconds
            case .deleted(let deletion): copy[deletion.uuid] = nil
            }
            end = after
        }
        (samples, anchor) = (copy, end)
    }

    static func values(of store: SampleStore) throws -> [SampleIdentity: Int64] {
        var all = Copy()
        try all.follow(store)
        let cursor = try store.samples.cursor(matching: SampleQuery())
        defer { cursor.close() }
        var live: [SampleIdentity: Int64] = [:]
        while let next = try cursor.next() { live[next.uuid] = next.sample.start.microseconds }
        #expect(live == all.values)
        return live
    }
}
