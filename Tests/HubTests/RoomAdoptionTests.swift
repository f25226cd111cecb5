import BlueZSource
import HealthModel
import Ingestion
import PipelineTesting
import Profiles
import Testing

/// The person of a device's readings follows from the data that was received at its adoption.
@Suite struct RoomAdoptionTests {
    private func device(_ service: UInt16, _ bytes: [UInt8], address: String = "C0:01:02:03:04:01") throws -> NearbyDevice {
        let data = AdvertisedData.service(BluetoothUUID(service))
        var device = NearbyDevice(
            address: try #require(BluetoothAddress(address)), addressIsDurable: true, name: nil, strength: -50, services: [],
            adverts: [data], isBonded: false, isConnected: false, adapter: "hci0")
        device.data = [data: bytes]
        return device
    }

    private func isOfRoom(_ device: NearbyDevice, bindKey: String? = nil) throws -> Bool {
        let assembly = DeviceAssembly(library: try Checkout.library)
        let profiles = assembly.profiles(for: device).map(\.id)
        try #require(!profiles.isEmpty)
        return assembly.measuresOnlyRoom(device, profiles: profiles, bindKey: bindKey)
    }

    /// BTHome v2: temperature 25.06 °C and humidity, mass 60 kg, battery 97 % (bthome.io/format).
    @Test(arguments: [
        ([0x40, 0x02, 0xCA, 0x09, 0x03, 0xBF, 0x13] as [UInt8], true), ([0x40, 0x06, 0x5E, 0x1F], false),
        ([0x40, 0x01, 0x61], false),
        ([0x40, 0x01, 0x61, 0x02, 0xCA, 0x09], true), ([0x40, 0x02, 0xCA, 0x09, 0x06, 0x5E, 0x1F], false),
    ])
    func bthome(bytes: [UInt8], isRoom: Bool) throws { #expect(try isOfRoom(device(0xFCD2, bytes)) == isRoom) }

    /// LYWSDCGQ's temperature and humidity, and an S400's encrypted weighing without its key: vectors of the profile.
    @Test func mibeacon() throws {
        let library = try Checkout.library
        let profile = try #require(library["xiaomi-mibeacon"])
        var (rooms, persons) = (0, 0)
        for vector in profile.frameVectors where vector.refused == nil {
            guard let bytes = vector.options.secrets.address else { continue }
            func text(_ bytes: [UInt8]) -> [String] { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) } }
            let device = try device(0xFE95, vector.bytes, address: text(bytes).joined(separator: ":"))
            let types = Set(vector.readings.map(\.type)).subtracting(["batteryLevel"])
            guard !types.isEmpty else { continue }
            let key = vector.options.secrets.bindKey.map { text($0).joined() }
            let isRoom = DeviceAssembly(library: library).measuresOnlyRoom(device, profiles: [profile.id], bindKey: key)
            #expect(isRoom == types.allSatisfy { SampleType($0)?.isOfRoom == true }, "\(vector.source)")
            if isRoom { rooms += 1 } else { persons += 1 }
            // Encrypted data cannot be recognized.
            if key != nil {
                #expect(!DeviceAssembly(library: library).measuresOnlyRoom(device, profiles: [profile.id], bindKey: nil))
            }
        }
        #expect(rooms > 2 && persons > 0)
    }
}
