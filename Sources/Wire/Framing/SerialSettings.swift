/// How octets are sent on a serial line.
public struct SerialSettings: Hashable, Sendable {
    public enum Parity: String, Hashable, Sendable, CaseIterable { case none, odd, even }

    /// Bits a second, of those that the system knows.
    public var speed: Int
    /// 7 or 8.
    public var dataBits = 8
    public var parity = Parity.none
    /// 1 or 2.
    public var stopBits = 1
    /// The device may stop and start us with XOFF and XON.
    public var hasSoftwareFlow = false

    public static let speeds = [1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]

    public init(speed: Int) { self.speed = speed }
}
