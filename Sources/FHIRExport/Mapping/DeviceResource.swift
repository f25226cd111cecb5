import Formats
import HealthModel

/// A device as a FHIR Device.
///
/// A device with other firmware is another Device with the same serial number, so that a reading's device is always described
/// correctly.
struct DeviceResource {
    /// A UUID derived from all facts about the device, the same on every hub.
    let id: String
    private let device: Device

    init(_ device: Device) {
        self.device = device
        let fields = [
            device.key, device.name, device.manufacturer, device.model, device.serial, device.hardware, device.firmware,
            device.software, device.udi,
        ]
        let key = SeriesKey(
            person: "", type: .batteryLevel, source: "urn:vitalgate:device",
            device: fields.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined(separator: ","))
        id = SampleIdentity(series: key, start: 0, record: RecordIdentifier(id: "device", version: 1)).description
    }

    /// The resource, without an id if the server chooses it.
    func resource(withID: Bool) -> JSONObject {
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        let versions = [("hardware", device.hardware), ("firmware", device.firmware), ("software", device.software)]
            .compactMap { name, value in
                present(value).map { JSONObject(["type": JSONObject(["text": name]), "value": $0]) }
            }
        return [
            "resourceType": "Device", "id": ifPresent(withID ? "device-\(id)" : nil), "meta": ObservationCodes.meta(),
            "identifier": [ObservationCodes.identifier(ObservationCodes.made, "device-\(id)")],
            "udiCarrier": ifPresent(device.udi.map { [JSONObject(["deviceIdentifier": $0])] }),
            "manufacturer": ifPresent(present(device.manufacturer)), "serialNumber": ifPresent(present(device.serial)),
            "modelNumber": ifPresent(present(device.model)),
            "deviceName": ifPresent(present(device.name).map { [JSONObject(["name": $0, "type": "user-friendly-name"])] }),
            "version": ifPresent(versions.isEmpty ? nil : versions),
        ]
    }
}
