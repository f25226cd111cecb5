import EventLoopKit
import HealthModel
import Pipeline
import SampleStore

/// The facts, clocks, and states of devices.
extension LiveIngest {
    /// Stores a device's facts with the next commit.
    package func remember(_ device: AdoptedDevice) {
        changed[device.address] = device
        arm()
    }

    /// Takes the result of reading a device's clock. If it is off, its times are corrected from now on.
    /// - Parameters: - ahead: how far it is ahead of a right clock in our zone, in microseconds. - ofUTC: how far the time it
    ///   shows is ahead of UTC, in microseconds.
    package func learn(ahead: Int64, ofUTC: Int64, of device: LiveDevice) {
        let received = loop.clock.now
        onEvent?(.clock(ahead: ahead, ofUTC: ofUTC, at: received, device))
        let before = pending.samples.count
        device.unconfirmedBoot = unconfirmedBoot
        let seconds = device.learn(ahead: ahead, ofUTC: ofUTC, received: received, into: &pending)
        assign(from: before, of: device)
        if PlausibleClock.allows(received) {
            // A clock that agrees with ours is as wrong as ours, until ours is confirmed.
            let isRight = seconds == nil && unconfirmedBoot == nil
            comparisons.append(
                ClockComparison(
                    device: device.key, shown: received.microseconds &+ ofUTC, received: received.microseconds,
                    ahead: isRight ? nil : ofUTC, ofZone: isRight ? nil : device.zoneError, zone: device.zone,
                    boot: unconfirmedBoot))
            arm()
        }
        guard let seconds else { return }
        let text = "its clock is \(abs(seconds)) s \(seconds > 0 ? "fast" : "slow"), and its times are corrected"
        let person = device.adopted.bluetoothAddress ?? device.adopted.address
        note(SourceNotice(.information, person, text))
    }

    /// Lets a device's times be corrected as before the hub's restart. If the store cannot be read, the clock has to be learned
    /// again.
    package func recallClock(of device: LiveDevice) {
        device.lastComparison = { [store] in try? store.devices.lastClockComparison(of: $0) }
    }

    /// Restores a device's state from its previous object, or else from the store.
    func recallState(of device: LiveDevice, after before: LiveDevice?) {
        guard device.lastState == nil else { return }
        let state = before?.state
        device.lastState = { [store] address in state ?? (try? store.devices.state(ofDevice: address)) }
    }

    /// Returns the states of the streams that differ from the stored ones.
    func states(of addresses: Set<String>) -> [DeviceState] {
        addresses.sorted().compactMap { activeDevices[$0]?.state }.filter { saved[$0.address] != $0.text }
    }

    /// Reports a notice and adds it to the ledger.
    func note(_ notice: SourceNotice) {
        onNotice(notice)
        ledger.note(notice.description)
        arm()
    }
}
