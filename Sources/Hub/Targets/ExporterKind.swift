import CommandExport
import FHIRExport
import FileExport
import FleetExport
import HomeAssistantExport
import HomeAssistantKit
import InfluxExport
import MQTTExport
import Pipeline
import PostgreSQLExport
import SampleStore
import WebhookExport

/// The kinds of targets there are: a new one is a line here, and its own package target.
package enum ExporterKind: String, CaseIterable, Sendable {
    case files
    case postgresql
    case influxdb
    case mqtt
    case fhir
    case webhook
    case command
    case fleet
    case homeassistant

    /// Reads the part of a target's configuration that belongs to its kind, and creates its exporter.
    func read(_ decoder: any Decoder) throws -> @Sendable (ExportContext) throws -> any Exporter {
        switch self {
        case .files: try Self.maker(decoder) { FileExporter($0, context: $1) }
        case .influxdb: try Self.maker(decoder) { InfluxExporter($0, context: $1) }
        case .mqtt: try Self.maker(decoder) { MQTTExporter($0, context: $1) }
        case .fhir: try Self.maker(decoder) { FHIRExporter($0, context: $1) }
        case .webhook: try Self.maker(decoder) { WebhookExporter($0, context: $1) }
        case .command: try Self.maker(decoder) { CommandExporter($0, context: $1) }
        case .fleet: try Self.maker(decoder) { FleetExporter($0, context: $1) }
        case .homeassistant: try Self.maker(decoder) { try HomeAssistantExporter($0, context: $1) }
        case .postgresql: try Self.maker(decoder) { PostgreSQLExporter($0, context: $1, days: { try SampleStatistics() }) }
        }
    }

    /// The keys that a kind has beside those that all have.
    package var settings: [ExporterSetting] {
        switch self {
        case .files: FileExporter.Settings.settings
        case .influxdb: InfluxSettings.settings
        case .mqtt: MQTTSettings.settings
        case .fhir: FHIRSettings.settings
        case .webhook: WebhookExporter.Settings.settings
        case .command: CommandExporter.Settings.settings
        case .fleet: FleetSettings.settings
        case .homeassistant: HomeAssistantSettings.settings
        case .postgresql: PostgreSQLSettings.settings
        }
    }

    private static func maker<Settings: ExporterSettings>(
        _ decoder: any Decoder, _ make: @escaping @Sendable (Settings, ExportContext) throws -> any Exporter
    ) throws -> @Sendable (ExportContext) throws -> any Exporter {
        let settings = try Settings(from: decoder)
        return { try make(settings, $0) }
    }
}
