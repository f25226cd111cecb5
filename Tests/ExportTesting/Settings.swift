import FoundationEssentials
import Pipeline

/// Reads a kind's settings as the configuration does.
package enum Settings {
    /// - Throws: ``SettingsFault``, or the decoder's error.
    package static func read<Kind: ExporterSettings>(_ kind: Kind.Type, _ json: String) throws -> Kind {
        try JSONDecoder().decode(kind, from: Data(json.utf8))
    }
}
