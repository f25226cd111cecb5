import HealthModel
import Profiles

/// The table of devices and programs that profiles read, and the documentation page that is generated from it.
struct DeviceTable {
    /// One model.
    struct Row {
        var device: ProfileDevice
        var model: String
        var profile: Profile

        /// The ids of the types that it provides.
        var types: [String] { profile.types.map(\.id) }
    }

    let rows: [Row]

    init(profiles: [Profile]) {
        let rows = profiles.flatMap { profile in
            profile.devices.flatMap { device in device.models.map { Row(device: device, model: $0, profile: profile) } }
        }
        let kinds = ProfileDevice.Kind.allCases
        self.rows = rows.sorted { one, other in
            let (first, second) = (kinds.firstIndex(of: one.device.kind) ?? 0, kinds.firstIndex(of: other.device.kind) ?? 0)
            if first != second { return first < second }
            let (maker, otherMaker) = (one.device.maker.lowercased(), other.device.maker.lowercased())
            return (maker, one.model, one.profile.id) < (otherMaker, other.model, other.profile.id)
        }
    }

    func rows(of kind: ProfileDevice.Kind) -> [Row] { rows.filter { $0.device.kind == kind } }

    /// The number of models of each kind, for the README.
    var summary: String {
        let kinds = ProfileDevice.Kind.allCases.filter { !rows(of: $0).isEmpty }
        let counts = kinds.map { "\(rows(of: $0).count) \($0.title.prefix(1).lowercased())\($0.title.dropFirst())" }
        return "\(rows.count) models: \(counts.joined(separator: ", "))"
    }

    /// The text of `docs/devices.md`.
    var page: String {
        var text = """
            # Devices

            What Vitalgate reads, maker by maker, made of the profiles (`scripts/generate`); `vitalgate profile list --devices` prints the same. A device that
            is not here may still be read: whatever offers a service of the Bluetooth SIG's for health, or advertises BTHome, is.

            \(summary).

            How far it is proven that a model is read rightly:

            - *vectors of several sources*: frames or files that independent programs, or the specification's examples, read in the same way. The profile's tests hold them.
            - *vectors of one source*: frames or files of one other program's tests, or made after its description.
            - *read only*: a description or another program's source was read, or the model is known to speak what the profile speaks; no frame of it was seen.


            """
        for kind in ProfileDevice.Kind.allCases where !rows(of: kind).isEmpty {
            text +=
                "\n## \(kind.title)\n\n| maker | model | what comes | proven by | needs | profile |\n|---|---|---|---|---|---|\n"
            for row in rows(of: kind) {
                let cells = [
                    row.device.maker, row.model, row.types.isEmpty ? "what each line names" : row.types.joined(separator: ", "),
                    row.device.proof.title, row.device.needs ?? "", "`\(row.profile.id)`",
                ]
                text += "| \(cells.joined(separator: " | ")) |\n"
            }
        }
        return text
    }
}
