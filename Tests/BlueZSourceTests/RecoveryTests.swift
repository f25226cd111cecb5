import Testing

@testable import BlueZSource

struct RecoveryTests {
    /// Story 1: nothing is ever answered. The recovery restarts discovery, then the adapter, then notifies the user once, at growing
    /// intervals.
    @Test func tiers() {
        var recovery = Recovery()
        var actions: [Recovery.Action] = []
        var now: Duration = .zero
        while now < .seconds(86_400) {
            if let decision = recovery.note(.noAnswer, at: now) { actions.append(decision.action) }
            now += .seconds(60)
        }
        #expect(actions == [.restartDiscovery, .powerCycle, .notifyUser])
    }

    @Test func oneCallWithoutAnswerIsNoEvidence() {
        var recovery = Recovery()
        #expect(recovery.note(.noAnswer, at: .zero) == nil)
        #expect(recovery.note(.noAnswer, at: .seconds(3600)) == nil)
        #expect(recovery.note(.noAnswer, at: .seconds(3700))?.action == .restartDiscovery)
    }

    /// Story 12: a healthy idle hub, for a week.
    @Test func silenceDoesNotAffectSharedAdapter() {
        var recovery = Recovery()
        var now: Duration = .zero
        while now < .seconds(604_800) {
            #expect(recovery.note(.silent(.subscription), at: now)?.isOurs == false)
            #expect(recovery.note(.silent(.link), at: now + .seconds(10))?.isOurs == false)
            now += .seconds(420)
        }
    }

    @Test func doesNotPowerCycleWorkingAdapter() {
        var recovery = Recovery()
        #expect(recovery.note(.contradiction, at: .zero)?.action == .restartDiscovery)
        #expect(recovery.note(.worked, at: .seconds(200)) == nil)
        #expect(recovery.note(.contradiction, at: .seconds(210))?.action == .restartDiscovery)
        #expect(recovery.note(.contradiction, at: .seconds(215)) == nil)
        #expect(recovery.note(.contradiction, at: .seconds(400))?.action == .powerCycle)
    }

    @Test func decisionsNameTheLayer() {
        var recovery = Recovery()
        #expect(recovery.note(.silent(.link), at: .zero)?.layer == .link)
        #expect(recovery.note(.contradiction, at: .zero)?.layer == .discovery)
        #expect(recovery.note(.contradiction, at: .seconds(500))?.layer == .adapter)
        #expect(recovery.note(.carriedOut(.powerCycle, succeeded: false), at: .seconds(1500))?.layer == .daemon)
    }
}

struct DiscoveryMachineTests {
    private let filter = DiscoveryFilter()

    private func on() -> DiscoveryMachine {
        var machine = DiscoveryMachine()
        #expect(machine.handle(.want(filter), at: .zero) == [.configure(filter)])
        #expect(machine.handle(.answered(.configure, nil), at: .zero) == [.start])
        #expect(machine.handle(.answered(.start, nil), at: .zero) == [])
        _ = machine.handle(.discovering(true), at: .zero)
        return machine
    }

    @Test func startsAndStops() {
        var machine = on()
        #expect(machine.state == .on)
        #expect(machine.deadline == nil)
        #expect(machine.handle(.want(nil), at: .zero) == [.stop])
        #expect(machine.handle(.answered(.stop, nil), at: .zero) == [])
        #expect(machine.state == .off)
    }

    @Test func aNewFilterIsSetWhileItRuns() {
        var machine = on()
        var other = filter
        other.duplicates = true
        #expect(machine.handle(.want(other), at: .zero) == [.configure(other)])
        #expect(machine.handle(.answered(.configure, nil), at: .zero) == [])
        #expect(machine.handle(.want(other), at: .zero) == [])
    }

    /// Story 3.
    @Test func stopThatIsInProgress() {
        var machine = on()
        _ = machine.handle(.want(nil), at: .zero)
        for second in 1...3 {
            #expect(machine.handle(.answered(.stop, .inProgress), at: .seconds(second - 1)) == [])
            #expect(machine.handle(.tick, at: .seconds(second)) == [.stop])
        }
        #expect(machine.handle(.answered(.stop, .inProgress), at: .seconds(4)) == [])
        #expect(machine.state == .off)
    }

    /// Story 2.
    @Test func startThatIsInProgressThoughNothingRuns() {
        var machine = DiscoveryMachine()
        _ = machine.handle(.want(filter), at: .zero)
        _ = machine.handle(.answered(.configure, nil), at: .zero)
        for second in 1...3 {
            #expect(machine.handle(.answered(.start, .inProgress), at: .zero) == [])
            #expect(machine.handle(.tick, at: .seconds(second * 2)) == [.start])
        }
        #expect(machine.handle(.answered(.start, .inProgress), at: .zero) == [.stop])
        #expect(machine.handle(.answered(.stop, .other), at: .zero) == [.start])
        #expect(machine.handle(.answered(.start, .inProgress), at: .zero) == [.observe(.contradiction)])
        #expect(machine.state == .waiting)
        #expect(machine.handle(.restart, at: .seconds(1)) == [.stop])
        #expect(machine.handle(.answered(.stop, .other), at: .seconds(1)) == [.configure(filter)])
        #expect(machine.handle(.answered(.configure, nil), at: .seconds(1)) == [.start])
        #expect(
            machine.handle(.answered(.start, nil), at: .seconds(1)) == [.observe(.carriedOut(.restartDiscovery, succeeded: true))]
        )
    }

    /// Connections pause discovery. Only a lasting denial restarts it.
    @Test func theProperty() {
        var machine = on()
        _ = machine.handle(.discovering(false), at: .seconds(10))
        _ = machine.handle(.discovering(true), at: .seconds(40))
        #expect(machine.handle(.tick, at: .seconds(100)) == [])
        _ = machine.handle(.discovering(false), at: .seconds(110))
        #expect(machine.handle(.tick, at: .seconds(170)) == [.stop])
    }

    @Test func retriesPoweredOffAdapter() {
        var machine = DiscoveryMachine()
        _ = machine.handle(.want(filter), at: .zero)
        #expect(machine.handle(.answered(.configure, .notReady), at: .zero) == [])
        #expect(machine.handle(.tick, at: .seconds(5)) == [.configure(filter)])
        _ = machine.handle(.lost, at: .seconds(6))
        #expect(machine.state == .off)
        #expect(machine.handle(.want(filter), at: .seconds(7)) == [.configure(filter)])
    }
}
