import EventLoopKit
import HealthModel
import Pipeline

/// The receiver of the source's events. All calls are made on the loop's thread.
package protocol BlueZSourceDelegate: AnyObject {
    /// Receives a frame of the adopted device with this address. Its bytes are valid only during the call. A measurement has the place of
    /// its context, which comes first.
    func received(_ frame: RawFrame, of address: BluetoothAddress)
    /// Makes everything received from this device durable together with `memory`, then calls ``BlueZSource/confirm(_:)``. Actions that
    /// depend on it, such as setting the device's clock, wait for that.
    func commit(_ token: CommitToken, memory: DeviceMemory)
    /// Called when the memory for the device has changed. It is needed the next time.
    func remember(_ memory: DeviceMemory, for address: BluetoothAddress)
    /// Called when the device's clock was read, before its records and before it is set, and again after it was set.
    func learned(_ evidence: ClockEvidence, for address: BluetoothAddress)
    /// Receives a notice for the log and for users. It never contains a value.
    func didReceive(_ notice: SourceNotice)
}

package struct CommitToken: Hashable, Sendable {
    /// The device whose frames are to be made durable.
    package let address: BluetoothAddress
    let number: Int
}
