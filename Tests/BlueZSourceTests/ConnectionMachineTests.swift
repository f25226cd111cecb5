import SystemdKit
import Testing

@testable import BlueZSource

/// Events in, commands out, on a clock that the test moves.
struct ConnectionMachineTests {
    typealias Machine = ConnectionMachine

    static let rate = CharacteristicName(0x180D, 0x2A37)
    static let location = CharacteristicName(0x180D, 0x2A38)
    static let name = CharacteristicName(0x180A, 0x2A29)
    static let clock = CharacteristicName(0x1805, 0x2A2B)

    private struct Driver {
        var machine: Machine
        var now: Duration = .seconds(100)
        init(_ description: DeviceDescription, memory: DeviceMemory = DeviceMemory(), random: Double = 1) {
            machine = Machine(description, memory: memory, random: { random })
        }
        @discardableResult mutating func on(_ event: Machine.Event) -> [Machine.Command] { machine.handle(event, at: now) }
        /// Advances the clock to the machine's next deadline.
        @discardableResult mutating func wait() -> [Machine.Command] {
            now = max(now, machine.deadline ?? now)
            return on(.tick)
        }
        /// Up to where steps begin.
        mutating func link(_ names: Set<CharacteristicName> = [rate]) -> [Machine.Command] {
            on(.start)
            on(.seen)
            on(.turn)
            on(.connected)
            return on(.resolved(names))
        }
        mutating func live() {
            _ = link()
            on(.finished(.subscribe(rate), .done))
        }
        /// All commands until no step is left, by granting everything.
        mutating func steps(named first: [Machine.Command]) -> [Machine.Command] {
            var commands = first
            var all = first
            while case .perform(let step)? = commands.last {
                commands = on(.finished(step, .done))
                all += commands
            }
            return all
        }
        /// What still has to be asked, by granting everything.
        mutating func steps(_ first: [Machine.Command]) -> [Machine.Step] {
            var commands = first
            var steps: [Machine.Step] = []
            while let step = commands.compactMap({ if case .perform(let step) = $0 { step } else { nil } }).first {
                steps.append(step)
                commands = on(.finished(step, .done))
            }
            return steps
        }
    }

    private static func strap() throws -> DeviceDescription { try Bench.strap() }

    /// A device that needs a start command receives it once its answers can be received, and not if it lacks the characteristic.
    @Test func writesStartCommandAfterSubscribing() throws {
        var description = try Self.strap()
        let begin = OpeningWrite(name: CharacteristicName(0x180D, 0x2A39), bytes: [0x55, 0xAA])
        let other = OpeningWrite(name: CharacteristicName(0x180D, 0x2A3A), bytes: [1])
        description.writes = [begin, other]
        var driver = Driver(description)
        let steps = driver.steps(driver.link([Self.rate, begin.name]))
        #expect(steps == [.subscribe(Self.rate), .write(begin)])
        #expect(driver.machine.state == .live)
    }

    @Test func theWayToALiveLink() throws {
        var driver = Driver(try Self.strap())
        #expect(driver.on(.start) == [])
        #expect(driver.machine.state == .idle)
        #expect(driver.on(.seen) == [.requestTurn])
        #expect(driver.on(.turn) == [.connect])
        #expect(driver.machine.state == .connecting)
        #expect(driver.on(.connected) == [])
        #expect(driver.machine.state == .resolving)
        #expect(driver.on(.resolved([Self.rate, Self.name])) == [.releaseTurn, .perform(.subscribe(Self.rate))])
        #expect(driver.on(.finished(.subscribe(Self.rate), .done)) == [.perform(.information)])
        #expect(driver.on(.finished(.information, .done)) == [.observe(.worked)])
        #expect(driver.machine.state == .live)
        #expect(driver.machine.deadline == driver.now + .seconds(5))
    }

    /// The clock is read first and set last, after the records and their commit.
    @Test func theOrderOfTheSteps() throws {
        var meter = try Self.strap()
        meter.subscriptions = []
        meter.reads = [Self.location]
        meter.recordAccess = .glucose
        meter.clock = DeviceClock(isSet: true)
        let access = RecordAccessDescription.glucose
        let all: Set = [access.measurement, access.controlPoint, Self.clock, Self.name, Self.location]
        var driver = Driver(meter)
        let commands = driver.link(all)
        #expect(
            driver.steps(commands) == [
                .information, .readClock, .read(Self.location), .subscribe(access.measurement), .subscribe(access.controlPoint),
                .collect, .commit, .setClock,
            ])
        // Device Information is read once.
        driver.on(.linkLost)
        driver.wait()
        driver.on(.seen)
        driver.on(.turn)
        driver.on(.connected)
        #expect(driver.steps(driver.on(.resolved(all))).contains(.information) == false)
    }

    @Test func recordsThatWereNotCollectedKeepTheClock() throws {
        var meter = try Self.strap()
        meter.recordAccess = .glucose
        meter.clock = DeviceClock(isSet: true)
        let access = RecordAccessDescription.glucose
        var driver = Driver(meter)
        _ = driver.link([Self.rate, access.measurement, access.controlPoint, Self.clock])
        for step in [
            Machine.Step.readClock, .subscribe(Self.rate), .subscribe(access.measurement), .subscribe(access.controlPoint),
        ] {
            driver.on(.finished(step, .done))
        }
        #expect(driver.on(.finished(.collect, .failed(.other))) == [.perform(.commit)])
        driver.on(.finished(.commit, .done))
        #expect(driver.machine.state == .live)
    }

    /// The service moves while records are collected. Steps that still hold are not repeated, and the clock is set after the records.
    @Test func recordServiceMovesDuringCollection() throws {
        var meter = try Self.strap()
        meter.subscriptions = []
        meter.reads = [Self.location]
        meter.recordAccess = .glucose
        meter.clock = DeviceClock(isSet: true)
        let access = RecordAccessDescription.glucose
        let all: Set = [access.measurement, access.controlPoint, Self.clock, Self.location]
        var driver = Driver(meter)
        _ = driver.link(all)
        for step in [
            Machine.Step.readClock, .read(Self.location), .subscribe(access.measurement), .subscribe(access.controlPoint),
        ] {
            driver.on(.finished(step, .done))
        }
        #expect(driver.machine.state == .working(.collect))
        #expect(
            driver.steps(driver.on(.resolved(all, unchanged: [Self.clock, Self.location, access.controlPoint]))) == [
                .subscribe(access.measurement), .collect, .commit, .setClock,
            ])
        #expect(driver.machine.subscribed == [access.measurement, access.controlPoint])
        #expect(driver.machine.state == .live)
        // Nothing that was done moved: nothing is done again.
        #expect(driver.steps(driver.on(.resolved(all, unchanged: all))) == [])
        #expect(driver.machine.state == .live)
    }

    @Test func backOffDoublesWithJitterUpToLimit() throws {
        for (random, expected) in [
            (1.0, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]), (0.0, [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 150, 150]),
        ] {
            var driver = Driver(try Self.strap(), random: random)
            driver.on(.start)
            driver.on(.seen)
            for seconds in expected {
                driver.on(.turn)
                #expect(driver.on(.connectFailed(.absent)) == [.releaseTurn, .disconnect])
                #expect(driver.machine.deadline == driver.now + .milliseconds(Int(seconds * 1000)))
                driver.on(.seen)
                #expect(driver.machine.state == .waiting)
                driver.wait()
                driver.on(.seen)
                #expect(driver.machine.state == .queued)
            }
        }
    }

    @Test func anAbsentDeviceIsNotCalled() throws {
        var driver = Driver(try Self.strap())
        driver.on(.start)
        driver.on(.seen)
        driver.on(.turn)
        driver.on(.connectFailed(.absent))
        driver.now += .seconds(100)
        #expect(driver.wait() == [])
        #expect(driver.machine.state == .idle)
        #expect(driver.on(.seen) == [.requestTurn])
    }

    /// Story 1: a Connect call that is never answered is ended, and the recovery is notified. A step belongs to the device.
    @Test func connectTimesOut() throws {
        var driver = Driver(try Self.strap())
        driver.on(.start)
        driver.on(.seen)
        driver.on(.turn)
        #expect(driver.machine.deadline == driver.now + .seconds(60))
        #expect(driver.wait() == [.observe(.noAnswer), .releaseTurn, .disconnect])
        driver = Driver(try Self.strap())
        _ = driver.link()
        #expect(driver.machine.deadline == driver.now + .seconds(35))
        #expect(driver.wait() == [.notify(.unanswered("180D/2A37")), .disconnect])
        #expect(driver.machine.state == .waiting)
    }

    @Test func reportsUnresolvedServicesOnce() throws {
        var driver = Driver(try Self.strap())
        for round in 0..<3 {
            driver.on(.start)
            driver.on(.seen)
            driver.on(.turn)
            driver.on(.connected)
            let commands = driver.wait()
            #expect(commands.contains(.notify(.notResolved)) == (round == 0))
            #expect(commands.contains(.disconnect))
            driver.wait()
        }
    }

    /// Stories 5 and 6: subscribe again, then reconnect. Further rounds come at growing intervals and are reported once.
    @Test func silence() throws {
        var driver = Driver(try Self.strap())
        driver.live()
        var reported = 0
        var pauses: [Duration] = []
        for _ in 0..<10 {
            pauses.append((driver.machine.deadline ?? .zero) - driver.now)
            #expect(driver.wait() == [.observe(.silent(.subscription)), .perform(.unsubscribe(Self.rate))])
            #expect(driver.on(.finished(.unsubscribe(Self.rate), .done)) == [.perform(.subscribe(Self.rate))])
            driver.on(.finished(.subscribe(Self.rate), .done))
            let commands = driver.wait()
            #expect(commands.suffix(2) == [.observe(.silent(.link)), .disconnect])
            reported += commands.contains(.notify(.silent)) ? 1 : 0
            driver.wait()
            driver.live()
        }
        #expect(reported == 1)
        #expect(pauses.first == .seconds(5))
        #expect(pauses.last == .seconds(600))
        driver.on(.frame)
        #expect(driver.machine.deadline == driver.now + .seconds(5))
    }

    /// Story 12: a device that sends data only when it has some is never disconnected.
    @Test func aQuietDeviceWithoutExpectationIsHealthy() throws {
        var cuff = try Self.strap()
        cuff.expectedInterval = nil
        var driver = Driver(cuff)
        driver.live()
        #expect(driver.machine.deadline == nil)
        driver.now += .seconds(86_400)
        #expect(driver.on(.tick) == [])
        #expect(driver.machine.state == .live)
    }

    /// Story 8: two attempts, then the user is asked, without a loop. A new bond ends this state.
    @Test func aRefusedBond() throws {
        var memory = DeviceMemory()
        memory.hadGoodSession = true
        var driver = Driver(try Self.strap(), memory: memory)
        for attempt in 1...3 {
            _ = driver.link()
            let commands = driver.on(.finished(.subscribe(Self.rate), .failed(.authentication)))
            #expect(commands.contains(.disconnect))
            #expect(commands.contains(.notify(.bondRefused)) == (attempt == 3))
            driver.on(.linkLost)
            if attempt < 3 { driver.wait() }
        }
        #expect(driver.machine.isBlocked)
        #expect(driver.machine.deadline == nil)
        for event in [Machine.Event.seen, .connected, .turn, .tick, .resolved([Self.rate])] { driver.on(event) }
        #expect(driver.machine.isBlocked)
        driver.on(.bonded)
        #expect(driver.machine.state == .queued)
    }

    @Test func withoutABondAPersonIsAskedAtOnce() throws {
        var driver = Driver(try Self.strap())
        _ = driver.link()
        #expect(driver.on(.finished(.subscribe(Self.rate), .failed(.authentication))) == [.notify(.needsPairing), .disconnect])
        #expect(driver.machine.state == .blocked(.needsPairing))
    }

    /// Story 7: a characteristic is in the table but cannot be enabled. If no bond would be lost, the table is dropped over the same link.
    /// Otherwise, or if that did not help, the hub tries once more after a reconnection, then reports the problem once.
    @Test(arguments: [false, true]) func aStaleTable(bonded: Bool) throws {
        var driver = Driver(try Self.strap())
        driver.machine.isBonded = bonded
        _ = driver.link()
        let first = driver.on(.finished(.subscribe(Self.rate), .failed(.stale)))
        #expect(first.contains(.dropCache) == !bonded && first.contains(.disconnect) == bonded)
        for round in 0..<4 {
            driver.on(.linkLost)
            driver.wait()
            _ = driver.link()
            let commands = driver.on(.finished(.subscribe(Self.rate), .failed(.stale)))
            #expect(!commands.contains(.dropCache))
            #expect(commands.contains(.notify(.staleCache(Self.rate))) == (round == (bonded ? 0 : 1)))
            #expect(driver.machine.state == .waiting)
        }
        driver.wait()
        driver.live()
        #expect(driver.machine.state == .live)
    }

    /// The device refused to enable notifications at a stale handle. BlueZ does not answer the request, and later takes the notifications
    /// for acquired. Without a request of ours before, another program has them, and its link is kept.
    @Test(arguments: [false, true]) func notificationsAlreadyAcquiredInBlueZ(own: Bool) throws {
        var driver = Driver(try Self.strap())
        _ = driver.link()
        if own {
            #expect(driver.on(.finished(.subscribe(Self.rate), .failed(.noAnswer))).contains(.disconnect))
            driver.on(.linkLost)
            driver.wait()
            _ = driver.link()
        }
        let commands = driver.on(.finished(.subscribe(Self.rate), .failed(.acquired)))
        #expect(commands.contains(.dropCache) == own)
        #expect(commands.contains(.notify(.notEnabled(Self.rate))) == !own)
    }

    @Test func inProgressIsTriedAgainAMomentLater() throws {
        var driver = Driver(try Self.strap())
        _ = driver.link()
        for _ in 0..<3 {
            #expect(driver.on(.finished(.subscribe(Self.rate), .failed(.inProgress))) == [])
            #expect(driver.wait() == [.perform(.subscribe(Self.rate))])
        }
        #expect(driver.on(.finished(.subscribe(Self.rate), .failed(.inProgress))).first == .notify(.notEnabled(Self.rate)))
        #expect(driver.machine.state == .waiting)
    }

    @Test func reportsMissingCharacteristics() throws {
        var driver = Driver(try Self.strap())
        for round in 0..<4 {
            let commands = driver.steps(named: driver.link([Self.name]))
            #expect(commands.contains(.dropCache) == (round == 0))
            #expect(commands.contains(.notify(.missing(Self.rate))) == (round == 2))
            driver.wait()
        }
    }

    /// BlueZ connects bonded devices by itself. Such a link is used although the hub did not ask for it.
    @Test(arguments: [0, 1, 2]) func usesUnrequestedConnection(events: Int) throws {
        var driver = Driver(try Self.strap())
        for event in [Machine.Event.start, .seen].prefix(events) { driver.on(event) }
        driver.on(.connected)
        #expect(driver.machine.state == (events == 0 ? .stopped : .resolving))
    }

    @Test func disconnectsAfterQuietPeriod() throws {
        var cuff = try Self.strap()
        cuff.presence = .leave(quiet: .seconds(20), rest: .seconds(300))
        var driver = Driver(cuff)
        driver.live()
        driver.now += .seconds(10)
        driver.on(.frame)
        #expect(driver.machine.deadline == driver.now + .seconds(20))
        #expect(driver.wait() == [.disconnect])
        #expect(driver.machine.state == .leaving)
        driver.on(.linkLost)
        // The device still advertises. It is not connected again before its rest is over.
        #expect(driver.on(.seen) == [])
        #expect(driver.machine.deadline == driver.now + .seconds(300))
    }

    @Test(arguments: [LinkFailure.notConnected, .unknownObject, .notReady]) func aLinkLostInTheMiddle(failure: LinkFailure) throws
    {
        var driver = Driver(try Self.strap())
        _ = driver.link()
        #expect(driver.on(.finished(.subscribe(Self.rate), .failed(failure))) == [.disconnect])
        #expect(driver.machine.state == .waiting)
        #expect(driver.machine.subscribed.isEmpty)
        // A late answer is ignored.
        #expect(driver.on(.finished(.subscribe(Self.rate), .done)) == [])
    }

    @Test func accessDeniedWaitsForAPerson() throws {
        var driver = Driver(try Self.strap())
        driver.on(.start)
        driver.on(.seen)
        driver.on(.turn)
        #expect(driver.on(.connectFailed(.accessDenied)) == [.releaseTurn, .notify(.accessDenied), .disconnect])
        driver.on(.start)
        #expect(driver.machine.state == .queued)
    }

    @Test func stopsFromEverywhere() throws {
        var driver = Driver(try Self.strap())
        driver.live()
        #expect(driver.on(.stop).contains(.disconnect))
        #expect(driver.machine.state == .stopped)
        for event in [Machine.Event.seen, .turn, .connected, .tick, .frame, .linkLost, .resolved([Self.rate])] {
            driver.on(event)
        }
        #expect(driver.machine.state == .stopped)
    }

    @Test func advertisersAreNeverConnected() throws {
        var thermometer = try Self.strap()
        thermometer.presence = .adverts
        var driver = Driver(thermometer)
        driver.on(.start)
        #expect(driver.on(.seen) == [])
    }

    @Test(arguments: [
        (BusError("org.bluez.Error.NotPermitted", "Not paired"), LinkFailure.authentication),
        (BusError("org.bluez.Error.NotPermitted", "Read not permitted"), .other),
        (BusError("org.bluez.Error.NotPermitted", "Write not permitted"), .stale),
        (BusError("org.bluez.Error.NotPermitted", "Notify acquired"), .acquired),
        (BusError("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0a"), .stale),
        (BusError("org.bluez.Error.Failed", "Operation failed with ATT error: 0xfe"), .procedureRunning),
        (BusError("org.bluez.Error.Failed", "Operation failed with ATT error: 0x80"), .other),
        (BusError("org.bluez.Error.Failed", "le-connection-abort-by-local"), .absent),
        (BusError("org.bluez.Error.NotConnected"), .notConnected),
        (BusError("org.freedesktop.DBus.Error.UnknownObject"), .unknownObject),
        (BusError.timeout, .noAnswer),
    ]) func failuresByTheirNames(error: BusError, failure: LinkFailure) {
        #expect(LinkFailure(error) == failure)
    }
}
