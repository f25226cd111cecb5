import Pipeline

/// Compares a server's CapabilityStatement with the required features.
struct CapabilityCheck {
    private(set) var findings: [Finding] = []

    init(_ statement: FHIRResource, ids: ObservationEncoder.IDs) {
        let version = statement.fhirVersion ?? ""
        find(version.hasPrefix("4.0"), "version", good: "FHIR R4", bad: "is not FHIR R4 (4.0)")
        let rest = statement.rest?.first { $0.mode == "server" }
        for name in ["transaction", "batch"] {
            find(Self.codes(rest?.interaction).contains(name), name, good: "is offered", bad: "is not offered, but is required")
        }
        let observation = rest?.resource?.first { $0.type == "Observation" }
        let rights = Self.codes(observation?.interaction)
        for name in ["read", "update", "search-type"] + (ids == .server ? ["create"] : []) {
            find(rights.contains(name), "Observation: \(name)", good: "is offered", bad: "is not offered, but is required")
        }
        let document = rest?.resource?.first { $0.type == DocumentResource.type }
        let offered = Set(["read", "update", "search-type"]).isSubset(of: Self.codes(document?.interaction))
        findings.append(
            Finding(
                offered ? .good : .warning, DocumentResource.type,
                offered
                    ? "is offered"
                    : "is not offered: clinical records and documents cannot be sent (exclude them with the key 'types')"))
        let devices = Self.offersDevices(statement, ids: ids)
        findings.append(
            Finding(
                devices ? .good : .warning, "Device",
                devices ? "is offered" : "is not offered: a server that was restored from a copy is not detected"))
        switch ids {
        case .client:
            find(
                observation?.updateCreate == true, "ids", good: "may be chosen by Vitalgate",
                bad: "the server chooses the ids of resources: set ids: \"server\"")
        case .server:
            find(
                observation?.conditionalCreate == true, "conditional create", good: "is offered",
                bad: "is not offered, but is required if the server chooses the ids of resources")
            if observation?.updateCreate == true {
                findings.append(
                    Finding(.warning, "ids", "the server accepts ids from Vitalgate, which is safer: set ids: \"client\""))
            }
        }
    }

    /// Whether a server lets us read and write Devices under the ids that are used.
    static func offersDevices(_ statement: FHIRResource?, ids: ObservationEncoder.IDs) -> Bool {
        let rest = statement?.rest?.first { $0.mode == "server" }
        guard let device = rest?.resource?.first(where: { $0.type == "Device" }) else { return false }
        let rights = codes(device.interaction)
        switch ids {
        case .client: return rights.isSuperset(of: ["read", "update"]) && device.updateCreate == true
        case .server:
            return rights.isSuperset(of: ["read", "update", "create", "search-type"]) && device.conditionalCreate == true
        }
    }

    private mutating func find(_ isGood: Bool, _ component: String, good: String, bad: String) {
        findings.append(Finding(isGood ? .good : .broken, component, isGood ? good : bad))
    }

    private static func codes(_ interactions: [FHIRResource.Rest.Interaction]?) -> Set<String> {
        Set((interactions ?? []).compactMap(\.code))
    }
}
