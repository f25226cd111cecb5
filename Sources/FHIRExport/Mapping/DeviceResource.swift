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

    /// Appends the resource, without an id if the server chooses it.
    func append(withID: Bool, to bytes: inout [UInt8]) {
        bytes += "{\"resourceType\":\"Device\",".utf8
        if withID { bytes += "\"id\":\"device-\(id)\",".utf8 }
        bytes +=
            "\(ObservationCodes.meta(profile: nil)),\"identifier\":[{\"system\":\"\(ObservationCodes.made)\",\"value\":\"device-\(id)\"}]"
            .utf8
        if let udi = device.udi {
            bytes += ",\"udiCarrier\":[{\"deviceIdentifier\":".utf8
            JSONText.append(string: udi, to: &bytes)
            bytes += "}]".utf8
        }
        for (name, value) in [
            ("manufacturer", device.manufacturer), ("serialNumber", device.serial), ("modelNumber", device.model),
        ] {
            guard let value, !value.isEmpty else { continue }
            bytes += ",\"\(name)\":".utf8
            JSONText.append(string: value, to: &bytes)
        }
        if let name = device.name, !name.isEmpty {
            bytes += ",\"deviceName\":[{\"name\":".utf8
            JSONText.append(string: name, to: &bytes)
            bytes += ",\"type\":\"user-friendly-name\"}]".utf8
        }
        let versions = [("hardware", device.hardware), ("firmware", device.firmware), ("software", device.software)]
        let known = versions.compactMap { name, value in value.flatMap { $0.isEmpty ? nil : (name, $0) } }
        for (index, (name, value)) in known.enumerated() {
            bytes += (index == 0 ? ",\"version\":[" : ",").utf8
            bytes += "{\"type\":{\"text\":\"\(name)\"},\"value\":".utf8
            JSONText.append(string: value, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        if !known.isEmpty { bytes.append(UInt8(ascii: "]")) }
        bytes.append(UInt8(ascii: "}"))
    }
}
