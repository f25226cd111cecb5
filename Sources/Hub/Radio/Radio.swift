import BlueZSource
import EventLoopKit
import HealthModel
import Pipeline
import SystemdKit

/// The radio of this machine for commands: an event loop and its Bluetooth source.
package final class Radio: BlueZSourceDelegate {
    /// The source's loop, run by ``run(limit:_:)``.
    package let loop: EventLoop
    /// The Bluetooth source on the system bus, with this object as its delegate.
    package let source: BlueZSource
    /// The zone of the local time that devices' clocks are compared with or set to, from the next comparison on.
    package var zone: TimeZoneRules {
        get { clocks.zone }
        set { clocks.zone = newValue }
    }
    private let clocks: Clocks

    /// The zone that devices' clocks are compared with.
    private final class Clocks {
        var zone: TimeZoneRules
        init(_ zone: TimeZoneRules) { self.zone = zone }
    }

    /// Called with notices for the log.
    package var onNotice: (SourceNotice) -> Void = { _ in }

    /// - Parameter zone: the zone of the local time that devices' clocks are compared with or set to.
    package init(machine: Machine, zone: TimeZoneRules) {
        loop = EventLoop(clock: MachineClock(machine))
        let clocks = Clocks(zone)
        self.clocks = clocks
        let configuration = BlueZConfiguration(
            wallTime: { $0.wallTime(at: clocks.zone.offset(at: $0)) }, random: { Double.random(in: 0..<1) })
        source = BlueZSource(bus: SystemBus(loop: loop), configuration: configuration)
        source.delegate = self
    }

    /// Runs the loop until `body` calls its argument, at most for the limit. Returns the passed value, or `nil` after a timeout.
    package func run<Answer>(limit: Duration, _ body: (@escaping (Answer) -> Void) -> Void) -> Answer? {
        var answer: Answer?
        let timer = loop.after(limit) { [loop] in loop.stop() }
        body { [loop] given in
            answer = given
            loop.stop()
        }
        if answer == nil { loop.run() }
        timer.cancel()
        return answer
    }

    /// Waits for an adapter. Returns false after a timeout.
    package func waitForAdapter(limit: Duration = .seconds(5)) -> Bool {
        run(limit: limit) { self.lookForAdapter(then: $0) } ?? false
    }

    private func lookForAdapter(then done: @escaping (Bool) -> Void) {
        if source.hasAdapter { return done(true) }
        loop.after(.milliseconds(50)) { [weak self] in self?.lookForAdapter(then: done) }
    }

    // Without adopted devices there are no frames.
    /// Does nothing: there is no adopted device.
    package func received(_ frame: RawFrame, of address: BluetoothAddress) {}
    /// Does nothing: there is nothing to make durable.
    package func commit(_ token: CommitToken, memory: DeviceMemory) {}
    /// Does nothing: nothing is kept of a device.
    package func remember(_ memory: DeviceMemory, for address: BluetoothAddress) {}
    /// Does nothing: no clock is compared.
    package func learned(_ evidence: ClockEvidence, for address: BluetoothAddress) {}
    /// Passes the notice to ``onNotice``.
    package func didReceive(_ notice: SourceNotice) { onNotice(notice) }
}
