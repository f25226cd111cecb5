import Formats
import HealthModel
import Pipeline

/// The mark of the last delivery as a FHIR Device, which represents the hub as the gateway of its deliveries. The mark is JSON in an
/// extension.
struct MarkResource {
    /// The id that we choose, and the identifier's value: a digest of the store and the target's name.
    let id: String

    init(store: String, target: String) {
        let digest = Digest.sha256(Array("\(store)/\(target)".utf8)).prefix(16)
        id = "mark-" + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The search for the mark on a server that chooses ids.
    var condition: String { "identifier=\(ObservationCodes.made)%7C\(id)" }

    /// The resource with its id on the server, or without one if the server chooses it.
    func resource(_ mark: TargetMark, id: String?) -> JSONObject {
        let own: JSONObject = ["url": ObservationCodes.mark, "valueString": String(decoding: mark.json, as: UTF8.self)]
        return [
            "resourceType": "Device", "id": ifPresent(id), "meta": ObservationCodes.meta(), "extension": [own],
            "identifier": [ObservationCodes.identifier(ObservationCodes.made, self.id)],
            "deviceName": [JSONObject(["name": "Vitalgate", "type": "model-name"])],
        ]
    }

    /// Returns the mark in a Device, or `nil` if it has none that can be read.
    static func mark(in device: FHIRResource) -> TargetMark? {
        device.extension?.first { $0.url == ObservationCodes.mark }?.valueString.flatMap { TargetMark(json: $0.utf8) }
    }
}
