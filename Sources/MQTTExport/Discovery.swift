import Formats
import HealthModel

/// What Home Assistant is told of a device, so that its sensors appear by themselves: one message for all of them, its device discovery.
struct Discovery {
    /// One sensor of the device.
    struct Component {
        /// A sensor of a quantity, or what another kind of sample is.
        enum Kind {
            case quantity(SensorKind)
            case object(ObjectKind)
        }
        var type: SampleType
        var kind: Kind
        /// Where its state is told.
        var topic: String
        /// Where it is told whether its state is recent; `nil` where it always is.
        var availability: String?
    }

    /// Stays the same whatever the device is called.
    var id: String
    var name: String
    var device: Device?
    /// Where it is told whether we are there.
    var hub: String
    var components: [Component]

    /// The message's octets.
    ///
    /// - Parameter gone: sensors that it had and has no more.
    func payload(without gone: [String] = []) -> [UInt8] {
        var device = JSONObject()
        device.set("identifiers", [id])
        device.set("name", name)
        let known = [
            ("manufacturer", self.device?.manufacturer), ("model", self.device?.model), ("serial_number", self.device?.serial),
            ("hw_version", self.device?.hardware), ("sw_version", self.device?.firmware ?? self.device?.software),
        ]
        for case (let key, let value?) in known { device.set(key, value) }
        var origin = JSONObject()
        origin.set("name", "Vitalgate")
        var list = JSONObject()
        for component in components { list.set(component.type.id, self.component(component)) }
        for name in gone {
            // Nothing but its platform: Home Assistant removes it.
            var component = JSONObject()
            component.set("platform", SampleType(name).flatMap { ObjectKind($0) }?.platform ?? "sensor")
            list.set(name, component)
        }
        var object = JSONObject()
        object.set("device", device)
        object.set("origin", origin)
        object.set("components", list)
        object.set("qos", 1)
        return object.closed
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
                var object = JSONObject()
                object.set("topic", topic)
                return object
            })
        object.set("availability_mode", "all")
        return object
    }

    private func set(_ kind: ObjectKind, _ component: Component, in object: inout JSONObject) {
        object.set("platform", kind.platform)
        object.set("unique_id", "\(id)_\(component.type.id)")
        object.set("name", kind.name)
        object.set("icon", kind.icon)
        object.set("state_topic", component.topic)
        object.set("value_template", "{{ value_json.value }}")
        object.set("json_attributes_topic", component.topic)
        let attributes = kind.attributes.map { "'\($0)': value_json.\($0)" }.joined(separator: ", ")
        object.set("json_attributes_template", "{{ {\(attributes)} | tojson }}")
    }

    private func set(_ kind: SensorKind, _ component: Component, in object: inout JSONObject) {
        object.set("platform", "sensor")
        object.set("unique_id", "\(id)_\(component.type.id)")
        object.set("name", component.type.displayName)
        if let name = kind.deviceClass { object.set("device_class", name) }
        if let unit = kind.unit { object.set("unit_of_measurement", unit.text) }
        object.set("state_class", kind.stateClass.rawValue)
        if let digits = kind.precision(of: component.type) { object.set("suggested_display_precision", digits) }
        if kind.isDiagnostic { object.set("entity_category", "diagnostic") }
        object.set("state_topic", component.topic)
        object.set("value_template", "{{ value_json.value }}")
        if kind.stateClass == .total { object.set("last_reset_value_template", "{{ value_json.start }}") }
        object.set("json_attributes_topic", component.topic)
        object.set(
            "json_attributes_template",
            "{{ {'start': value_json.start, 'end': value_json.end, 'uuid': value_json.uuid} | tojson }}")
    }
}
