/// How octets are sent on a serial line.
public struct SerialSettings: Hashable, Sendable {
    /// What the parity bit makes of the number of ones.
    public enum Parity: String, Hashable, Sendable, CaseIterable { case none, odd, even }

    /// Bits a second, of those that the system knows.
    public var speed: Int
    /// 7 or 8.
    public var dataBits = 8
    /// None unless the device's manual names one.
    public var parity = Parity.none
    /// 1 or 2.
    public var stopBits = 1
    /// The device may stop and start us with XOFF and XON.
    public var hasSoftwareFlow = false

    /// Those that are taken from a profile, in bits a second.
    public static let speeds = [1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]

    /// Eight data bits, no parity, one stop bit.
    ///
    /// - Parameter speed: in bits a second; one of ``speeds``.
    public init(speed: Int) { self.speed = speed }
}
