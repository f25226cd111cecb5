package struct SerialSettings: Hashable, Sendable {
    /// The parity of the number of ones.
    package enum Parity: String, Hashable, Sendable, CaseIterable { case none, odd, even }

    /// The speed in bits per second, one of those that the system supports.
    package var speed: Int
    /// The number of data bits, 7 or 8.
    package var dataBits = 8
    /// The parity, none unless the device's manual requires one.
    package var parity = Parity.none
    /// The number of stop bits, 1 or 2.
    package var stopBits = 1
    /// Whether the device may pause and resume us with XOFF and XON.
    package var hasSoftwareFlow = false

    /// The speeds that profiles may use, in bits per second.
    package static let speeds = [1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]

    /// Eight data bits, no parity, one stop bit.
    ///
    /// - Parameter speed: The speed in bits per second, one of ``speeds``.
    package init(speed: Int) { self.speed = speed }
}
