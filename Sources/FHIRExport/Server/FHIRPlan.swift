import Formats
import HealthModel
import Pipeline

/// The resources to write in one transaction.
struct FHIRPlan {
    private(set) var bundle = TransactionBundle()
    /// Devices in the plan that were not known to exist.
    private(set) var newDevices: Set<String> = []
    /// The identifiers of resources whose ids the server chooses.
    private(set) var created: [String] = []
    private let base: String
    private let ids: ObservationEncoder.IDs
    private let devices: Set<String>

    init(base: String, ids: ObservationEncoder.IDs, devices: Set<String>) {
        (self.base, self.ids, self.devices) = (base, ids, devices)
    }

    /// Adds an Observation or other resource with our id.
    mutating func put(_ id: String, type: String = "Observation", _ resource: JSONObject) {
        bundle.add(fullURL: "\(base)/\(type)/\(id)", .put(path: "\(type)/\(id)"), resource)
    }

    /// Adds an Observation or other resource whose id the server chooses.
    ///
    /// - Parameter id: our id: a UUID, or `bp-` and a UUID.
    mutating func create(
        _ identifier: String, id: String, type: String = "Observation", _ resource: JSONObject
    ) {
        created.append(identifier)
        let uuid = id.hasPrefix("bp-") ? String(id.dropFirst(3)) : id
        bundle.add(
            fullURL: "urn:uuid:\(uuid)", .create(type: type, ifNoneExist: "identifier=\(identifier)"), resource)
    }

    /// Adds the mark of a delivery.
    ///
    /// - Parameter known: the mark's id on a server that chooses ids, or `nil` if it does not exist there.
    mutating func put(_ mark: TargetMark, _ resource: MarkResource, at known: String?) {
        guard let id = ids == .client ? resource.id : known else {
            bundle.add(
                fullURL: "\(base)/Device/\(resource.id)", .create(type: "Device", ifNoneExist: resource.condition),
                resource.resource(mark, id: nil))
            return
        }
        put(id, type: "Device", resource.resource(mark, id: id))
    }

    /// Adds the device of a resource unless it exists. If the server chooses ids, it is added each time because its id is not
    /// known.
    mutating func add(_ device: Device?) {
        guard let device else { return }
        let resource = DeviceResource(device)
        guard !devices.contains(resource.id), newDevices.insert(resource.id).inserted else { return }
        let id = "device-\(resource.id)"
        switch ids {
        case .client: put(id, type: "Device", resource.resource(withID: true))
        case .server:
            let condition = "identifier=\(ObservationCodes.made)%7C\(id)"
            bundle.add(
                fullURL: "urn:uuid:\(resource.id)", .create(type: "Device", ifNoneExist: condition),
                resource.resource(withID: false))
        }
    }
}
