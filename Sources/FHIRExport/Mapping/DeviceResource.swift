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
            subject: "", type: .batteryLevel, source: "urn:vitalgate:device",
            device: fields.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined(separator: ","))
        id = SampleIdentity(series: key, start: 0, record: RecordIdentifier(id: "device", version: 1)).description
    }

    /// Appends the resource, without an id if the server chooses it.
    func append(withID: Bool, to octets: inout [UInt8]) {
        octets += "{\"resourceType\":\"Device\",".utf8
        if withID { octets += "\"id\":\"device-\(id)\",".utf8 }
        octets +=
            "\(ObservationCodes.meta(profile: nil)),\"identifier\":[{\"system\":\"\(ObservationCodes.made)\",\"value\":\"device-\(id)\"}]"
            .utf8
        if let udi = device.udi {
            octets += ",\"udiCarrier\":[{\"deviceIdentifier\":".utf8
            JSONText.append(string: udi, to: &octets)
            octets += "}]".utf8
        }
        for (name, value) in [
            ("manufacturer", device.manufacturer), ("serialNumber", device.serial), ("modelNumber", device.model),
        ] {
            guard let value, !value.isEmpty else { continue }
            octets += ",\"\(name)\":".utf8
            JSONText.append(string: value, to: &octets)
        }
        if let name = device.name, !name.isEmpty {
            octets += ",\"deviceName\":[{\"name\":".utf8
            JSONText.append(string: name, to: &octets)
            octets += ",\"type\":\"user-friendly-name\"}]".utf8
        }
        let versions = [("hardware", device.hardware), ("firmware", device.firmware), ("software", device.software)]
        let known = versions.compactMap { name, value in value.flatMap { $0.isEmpty ? nil : (name, $0) } }
        for (index, (name, value)) in known.enumerated() {
            octets += (index == 0 ? ",\"version\":[" : ",").utf8
            octets += "{\"type\":{\"text\":\"\(name)\"},\"value\":".utf8
            JSONText.append(string: value, to: &octets)
            octets.append(UInt8(ascii: "}"))
        }
        if !known.isEmpty { octets.append(UInt8(ascii: "]")) }
        octets.append(UInt8(ascii: "}"))
    }
}
