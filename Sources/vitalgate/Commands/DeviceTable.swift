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

    /// The text of `docs/reference/devices.md`.
    var page: String {
        var text = """
            # Devices

            This page lists the devices and apps whose data Vitalgate reads. It is generated from the device profiles (`scripts/generate`),
            and `vitalgate profile list --devices` prints the same list. Other devices may work too. Vitalgate reads every device that
            offers a health service of the Bluetooth SIG or advertises BTHome.

            \(summary).

            *Proven by* shows how well the reading of a model is tested:

            - *vectors of several sources*: the profile's tests contain frames or files from independent programs, or from the \
            specification's examples, that agree with each other.
            - *vectors of one source*: the frames or files come from the tests of one other program, or were made from its description.
            - *read only*: no frame of this model has been seen. The profile follows a description, the source code of another \
            program, or a protocol that the model is known to use.


            """
        for kind in ProfileDevice.Kind.allCases where !rows(of: kind).isEmpty {
            text +=
                "\n## \(kind.title)\n\n| maker | model | types | proven by | needs | profile |\n|---|---|---|---|---|---|\n"
            for row in rows(of: kind) {
                let cells = [
                    row.device.maker, row.model, row.types.isEmpty ? "named in the file" : row.types.joined(separator: ", "),
                    row.device.proof.title, row.device.needs ?? "", "`\(row.profile.id)`",
                ]
                text += "| \(cells.joined(separator: " | ")) |\n"
            }
        }
        return text
    }
}
