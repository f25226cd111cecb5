import Formats
import HealthModel

/// Home Assistant's device discovery message for a device. It makes all of the device's sensors appear automatically.
struct Discovery {
    /// One sensor of the device.
    struct Component {
        /// The kind of sensor: a quantity or another kind of sample.
        enum Kind {
            case quantity(SensorKind)
            case object(ObjectKind)
        }
        var type: SampleType
        var kind: Kind
        var topic: String
        /// The topic of its availability, which shows whether its state is recent. `nil` if it is always available.
        var availability: String?
    }

    /// The id, which does not change when the device is renamed.
    var id: String
    var name: String
    var device: Device?
    /// The topic of the hub's availability.
    var hub: String
    var components: [Component]

    /// Returns the message's bytes.
    ///
    /// - Parameter removed: former sensors that the device no longer has.
    func payload(without removed: [String] = []) -> [UInt8] {
        var device = JSONObject(["identifiers": [id], "name": name])
        let known = [
            ("manufacturer", self.device?.manufacturer), ("model", self.device?.model), ("serial_number", self.device?.serial),
            ("hw_version", self.device?.hardware), ("sw_version", self.device?.firmware ?? self.device?.software),
        ]
        for case (let key, let value?) in known { device.set(key, value) }
        let origin = JSONObject(["name": "Vitalgate"])
        var list = JSONObject()
        for component in components { list.set(component.type.id, self.component(component)) }
        for name in removed {
            // An entry with only its platform removes the sensor from Home Assistant.
            let component = JSONObject(["platform": SampleType(name).flatMap { ObjectKind($0) }?.platform ?? "sensor"])
            list.set(name, component)
        }
        return JSONObject(["device": device, "origin": origin, "components": list, "qos": 1]).closed
    }

    /// Divides the sensors among messages that a broker accepts. Home Assistant joins messages with the same device.
    ///
    /// - Parameter fits: Whether a message is small enough.
    /// - Returns: The messages, and the types of sensors whose own message is too large.
    func divided(_ fits: (Discovery) -> Bool) -> (parts: [Discovery], tooLarge: [SampleType]) {
        guard !fits(self) else { return ([self], []) }
        var (parts, tooLarge): ([Discovery], [SampleType]) = ([], [])
        for component in components {
            var single = self
            single.components = [component]
            guard fits(single) else {
                tooLarge.append(component.type)
                continue
            }
            if var last = parts.last {
                last.components.append(component)
                if fits(last) {
                    parts[parts.count - 1] = last
                    continue
                }
            }
            parts.append(single)
        }
        return (parts, tooLarge)
    }

    private func component(_ component: Component) -> JSONObject {
        var object = JSONObject()
        switch component.kind {
        case .quantity(let kind): set(kind, component, in: &object)
        case .object(let kind): set(kind, component, in: &object)
        }
        object.set(
            "availability",
            ([hub] + (component.availability.map { [$0] } ?? [])).map { topic in
                JSONObject(["topic": topic])
            })
        object.set("availability_mode", "all")
        return object
    }

    private func set(_ kind: ObjectKind, _ component: Component, in object: inout JSONObject) {
        object.set([
            "platform": kind.platform, "unique_id": "\(id)_\(component.type.id)", "name": kind.name, "icon": kind.icon,
            "state_topic": component.topic, "value_template": "{{ value_json.value }}", "json_attributes_topic": component.topic,
        ])
        let attributes = kind.attributes.map { "'\($0)': value_json.\($0)" }.joined(separator: ", ")
        object.set("json_attributes_template", "{{ {\(attributes)} | tojson }}")
    }

    private func set(_ kind: SensorKind, _ component: Component, in object: inout JSONObject) {
        object.set([
            "platform": "sensor", "unique_id": "\(id)_\(component.type.id)", "name": component.type.displayName,
            "device_class": ifPresent(kind.deviceClass), "unit_of_measurement": ifPresent(kind.unit.map { $0.text }),
            "state_class": kind.stateClass.rawValue, "suggested_display_precision": ifPresent(kind.precision(of: component.type)),
            "entity_category": ifPresent(kind.isDiagnostic ? "diagnostic" : nil), "state_topic": component.topic,
            "value_template": "{{ value_json.value }}",
            "last_reset_value_template": ifPresent(kind.stateClass == .total ? "{{ value_json.start }}" : nil),
            "json_attributes_topic": component.topic,
            "json_attributes_template":
                "{{ {'start': value_json.start, 'end': value_json.end, 'uuid': value_json.uuid} | tojson }}",
        ])
    }
}
