import Glibc
import HealthModel
import Ingestion
import Profiles
import SampleStore

/// A simulated sensor that sends frames in the byte format of the Bluetooth SIG's services.
struct SimulatedSensor: Sendable {
    /// The part of its address after ``AdoptedDevice/simulated``.
    var id: String
    var name: String
    var profiles: [String]
    var interval: Duration
    /// Returns the frames of its nth turn, counted from 0.
    var frames: @Sendable (Int) -> [(channel: String, bytes: [UInt8])]

    static let manufacturer = "Vitalgate simulation"

    static let all = [
        SimulatedSensor(
            id: "strap", name: "Simulated strap", profiles: ["sig-heart-rate", "sig-battery"], interval: .seconds(1),
            frames: strap),
        SimulatedSensor(
            id: "thermometer", name: "Simulated thermometer", profiles: ["sig-health-thermometer", "sig-battery"],
            interval: .seconds(10), frames: thermometer),
    ]

    var device: Device {
        Device(key: "\(Self.manufacturer)/\(name)", name: name, manufacturer: Self.manufacturer, model: name)
    }

    func adopted(person: String, at time: Instant) -> AdoptedDevice {
        var adopted = AdoptedDevice(
            address: AdoptedDevice.simulated + id, key: device.key, profiles: profiles, name: name, person: person,
            adopted: time.microseconds)
        adopted.device = device
        return adopted
    }

    /// Heart Rate Measurement: flags 0x16 (contact, RR intervals), the rate, an RR interval in 1/1024 s. It simulates a person
    /// who alternates between walking and resting.
    private static func strap(_ turn: Int) -> [(channel: String, bytes: [UInt8])] {
        let rate = 72 + 14 * sin(Double(turn) / 40) + 3 * sin(Double(turn) / 3)
        let interval = UInt16(61_440 / rate)
        let bytes = [0x16, UInt8(rate), UInt8(interval & 0xFF), UInt8(interval >> 8)]
        return [("gatt:2A37", bytes)] + battery(turn, every: 600, full: 90)
    }

    /// Temperature Measurement: flags 0x04 (°C, with its type), an IEEE 11073 FLOAT in hundredths, the type `armpit`.
    private static func thermometer(_ turn: Int) -> [(channel: String, bytes: [UInt8])] {
        let hundredths = UInt32(3660 + 25 * sin(Double(turn) / 12))
        let bytes = [0x04, UInt8(hundredths & 0xFF), UInt8(hundredths >> 8 & 0xFF), UInt8(hundredths >> 16), 0xFE, 0x01]
        return [("gatt:2A1C", bytes)] + battery(turn, every: 60, full: 76)
    }

    /// Battery Level: one percent less each time, and full again at 50 percent.
    private static func battery(_ turn: Int, every turns: Int, full: Int) -> [(channel: String, bytes: [UInt8])] {
        turn % turns == 0 ? [("gatt:2A19", [UInt8(full - turn / turns % (full - 50))])] : []
    }
}
