import Formats
import HealthModel
import Pipeline

/// Posts changes to a URL in order, as the JSON lines of `changes`, signed according to Standard Webhooks.
///
/// A batch that was sent but not acknowledged is sent again with the same `webhook-id`. Each line has its sample's UUID and the
/// change's anchor, so the receiver can ignore repetitions.
package final class WebhookExporter: Exporter {
    package enum Form: String, Sendable, CaseIterable {
        /// JSON lines as printed by `changes`.
        case lines = "ndjson"
        /// JSON lines, each an Open mHealth data point.
        case openMHealth = "open-mhealth"
        /// One object in the format of the app Health Auto Export.
        case healthAutoExport = "health-auto-export"
    }

    /// The user's settings.
    package struct Settings: ExporterSettings {
        /// `url`, `format`, `secret`, `certificateAuthority`.
        package static let settings = Key.settings
        package var url: String
        package var form: Form
        /// The secret for signatures, or `nil` for unsigned requests.
        package var secret: Secret?
        /// The path of a file with trusted certificates, or `nil` for the system's.
        package var certificateAuthority: String?

        package init(url: String, form: Form = .lines, secret: Secret? = nil, certificateAuthority: String? = nil) {
            (self.url, self.form, self.secret, self.certificateAuthority) = (url, form, secret, certificateAuthority)
        }

        private enum Key: String, ExporterSettingKey {
            case url, format, secret, certificateAuthority

            var form: ExporterSetting.Form {
                switch self {
                case .secret: .secret
                default: .text
                }
            }
        }

        /// - Throws: ``SettingsFault`` if a value is invalid.
        package init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            url = try members.decode(String.self, forKey: .url)
            secret = try members.decodeIfPresent(Secret.self, forKey: .secret)
            certificateAuthority = try members.decodeIfPresent(String.self, forKey: .certificateAuthority)
            let name = try members.decodeIfPresent(String.self, forKey: .format) ?? Form.lines.rawValue
            guard let form = Form(rawValue: name) else {
                throw SettingsFault("format", "expected one of \(Form.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self.form = form
            guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.utf8.contains(where: { $0 <= 0x20 }) else {
                throw SettingsFault("url", "the address must begin with http:// or https://")
            }
            // The address is in logs and in reports.
            guard
                !url.drop(while: { $0 != "/" }).drop(while: { $0 == "/" }).prefix(while: { $0 != "/" && $0 != "?" }).contains("@")
            else {
                throw SettingsFault("url", "an address without user and password (the key 'secret' signs the requests)")
            }
        }
    }

    /// The maximum number of changes, about a megabyte.
    package let batchLimit = 1000
    /// The kinds that the format supports. Our own lines support all.
    package var kinds: Set<SampleKind> {
        switch settings.form {
        case .lines: Set(SampleKind.allCases)
        case .openMHealth: DataPointLine.kinds
        default: [.quantity]
        }
    }
    /// True because a receiver may keep only the last change.
    package let isOrdered = true
    private let settings: Settings
    private let context: ExportContext
    private let line: ChangeLine
    private let point = DataPointLine()
    private let connection: WebhookConnection

    /// Creates an exporter without connecting.
    package init(_ settings: Settings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        line = ChangeLine(me: context.me)
        connection = WebhookConnection(settings, now: context.now)
    }

    /// The URL without query and fragment. It identifies the target because a receiver stores no mark.
    package var address: String { String(settings.url.prefix { $0 != "?" && $0 != "#" }) }

    package var shape: String { settings.form == .lines ? "" : "format=\(settings.form.rawValue)" }

    /// Posts a signed empty body, which a receiver answers like any other.
    package func check() throws(DeliveryError) -> [Finding] {
        try post([], id: "check")
        var findings = [Finding(.good, settings.url, "answers")]
        if settings.secret == nil {
            findings.append(
                Finding(
                    .warning, settings.url,
                    "requests are not signed, and anyone who knows the address can post to it (key 'secret')"))
        }
        if settings.url.hasPrefix("http://") {
            findings.append(Finding(.warning, settings.url, "readings are sent unencrypted: use https://"))
        }
        return findings
    }

    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        let (body, leftOut) = try body(of: batch)
        // No change can be represented in the format.
        guard !body.isEmpty else { return leftOut }
        guard let first = batch.changes.first, let last = batch.changes.last else { return 0 }
        // The same batch always has the same id.
        let id = [batch.anchors.first ?? "\(first.uuid)", batch.anchors.last ?? "\(last.uuid)"].joined(separator: "_")
        try post(body, id: "\(context.name)_\(id)")
        return leftOut
    }

    private func body(of batch: ExportBatch) throws(DeliveryError) -> (bytes: [UInt8], leftOut: Int) {
        var bytes: [UInt8] = []
        var leftOut = 0
        switch settings.form {
        case .lines:
            for (index, change) in batch.changes.enumerated() {
                let anchor = batch.anchors.isEmpty ? "" : batch.anchors[index]
                line.append(change, anchor: anchor, in: context.wantedQuantity, to: &bytes)
            }
        case .openMHealth:
            for change in batch.changes where !point.append(change, to: &bytes) { leftOut += 1 }
        case .healthAutoExport:
            var object = HealthAutoExport(context)
            for change in batch.changes { try object.add(change) }
            leftOut = object.leftOut
            if leftOut < batch.changes.count { bytes = object.bytes }
        }
        return (bytes, leftOut)
    }

    private func post(_ body: [UInt8], id: String) throws(DeliveryError) {
        let type = settings.form == .healthAutoExport ? "application/json" : "application/x-ndjson"
        try connection.post(body, type: type, id: id)
    }

    package func finish() { connection.close() }
}
