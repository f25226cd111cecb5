import EventLoopKit
import HealthModel
import Pipeline

/// What the assembling target does with what the source says. All calls come on the loop's thread.
public protocol BlueZSourceDelegate: AnyObject {
    /// A frame of the adopted device with this address; its bytes are valid during the call. A measurement has the place of
    /// its context, which comes first.
    func received(_ frame: RawFrame, of address: BluetoothAddress)
    /// Make everything received of this device durable, together with `memory`, then call ``BlueZSource/confirm(_:)``. Nothing that
    /// depends on it (setting the device's clock) is done before.
    func commit(_ token: CommitToken, memory: DeviceMemory)
    /// Something about the device was learned that should be known the next time.
    func remember(_ memory: DeviceMemory, for address: BluetoothAddress)
    /// The device's clock was read, before its records and before it is set; and once more when it was set.
    func learned(_ evidence: ClockEvidence, for address: BluetoothAddress)
    /// For the log, and for a person. Never holds a value.
    func told(_ notice: SourceNotice)
}

/// Names one commit that is waited for.
public struct CommitToken: Hashable, Sendable {
    /// The device whose frames are to be made durable.
    public let address: BluetoothAddress
    let number: Int
}
