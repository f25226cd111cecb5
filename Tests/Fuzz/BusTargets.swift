import EventLoopKit
import Glibc
import HealthModel
import Pipeline
import SystemdKit

@testable import BlueZSource
@testable import SystemdKit

/// A bluetoothd, and the bus to it, that follow the input. A zero byte is BlueZ's normal behavior and any other byte a deviation, so that
/// an empty input is a normal day and each further byte makes it stranger.
enum BusTargets {
    static func bus(_ input: [UInt8]) {
        guard listener >= 0 else { return }
        let clock = Clock()
        let loop = EventLoop(clock: clock)
        let bus = SystemBus(loop: loop, address: .custom("unix:abstract=\(name)"))
        let source = BlueZSource(
            bus: bus, configuration: BlueZConfiguration(wallTime: { $0.wallTime(at: .utc) }, random: { 0.5 }))
        let hub = Hub(source)
        source.delegate = hub
        for device in devices { source.adopt(device, memory: DeviceMemory()) }
        source.start()
        let daemon = RandomBlueZ(input)
        // A normal day takes some turns. A strange one ends with its input.
        var turns = 24
        while turns > 0 || !daemon.isSpent {
            turns -= 1
            if !daemon.isConnected { daemon.accept(from: listener) }
            loop.turn(maximumWait: .zero)
            daemon.answer()
            clock.uptime += daemon.act()
        }
        source.stop()
        loop.turn(maximumWait: .zero)
        // A callback on the last turn may have called again and was refused.
        clock.uptime += .seconds(3600)
        loop.turn(maximumWait: .zero)
        precondition(bus.load == (0, 0, 0), "what sd-bus gave is given back")
    }

    private static let name = "vitalgate-fuzz-\(getpid())"

    /// Where the source finds its bus.
    private static let listener: Int32 = {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
        let length = MemoryLayout<sa_family_t>.size + 1 + name.utf8.count
        let bound = withUnsafeBytes(of: &address) { raw in
            raw.baseAddress.map { bind(number, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(length)) } ?? -1
        }
        guard bound == 0, listen(number, 8) == 0 else { return -1 }
        return number
    }()

    /// A stream, a meter with a memory and a clock, one that only advertises.
    private static let devices: [DeviceDescription] = RandomBlueZ.addresses.enumerated().compactMap { index, text in
        guard let address = BluetoothAddress(text) else { return nil }
        var device = DeviceDescription(address: address, profile: "fuzz")
        switch index {
        case 0:
            device.services = [BluetoothUUID(0x180D)]
            device.subscriptions = [CharacteristicName(0x180D, 0x2A37)]
            device.reads = [CharacteristicName(0x180D, 0x2A38)]
            device.expectedInterval = .seconds(1)
        case 1:
            device.recordAccess = .glucose
            device.clock = DeviceClock(isSet: true)
            device.needsBond = true
            device.presence = .leave(quiet: .seconds(5), rest: .seconds(30))
        default:
            device.presence = .adverts
            device.adverts = [.service(BluetoothUUID(0xFCD2)), .manufacturer(0x0157)]
        }
        return device
    }

    private final class Clock: SourceClock {
        var uptime: Duration = .seconds(1000)
        var now: Instant {
            Instant(microseconds: 1_795_000_000_000_000 + (uptime - .seconds(1000)).components.seconds * 1_000_000)
        }
    }

    /// Accepts everything and reads each byte of it.
    private final class Hub: BlueZSourceDelegate {
        private unowned let source: BlueZSource
        private var sum = 0

        init(_ source: BlueZSource) { self.source = source }

        func received(_ frame: RawFrame, of address: BluetoothAddress) {
            if case .bytes(let bytes) = frame.payload { for byte in bytes { sum &+= Int(byte) } }
        }
        func commit(_ token: CommitToken, memory: DeviceMemory) { source.confirm(token) }
        func remember(_ memory: DeviceMemory, for address: BluetoothAddress) {}
        func learned(_ evidence: ClockEvidence, for address: BluetoothAddress) { sum &+= Int(evidence.ahead) }
        func didReceive(_ notice: SourceNotice) { sum &+= notice.text.utf8.count }
    }
}
