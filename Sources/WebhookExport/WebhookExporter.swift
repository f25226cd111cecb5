import Formats
import HTTPClientKit
import HealthModel
import Pipeline

/// Posts changes to an address, in order: lines of JSON as `changes` prints them, signed as Standard Webhooks has it.
///
/// A batch that was told and not acknowledged comes again with the same `webhook-id`; each line has its sample's UUID and the change's anchor, by which
/// a receiver makes nothing of what it knows.
public final class WebhookExporter: Exporter {
    /// What is posted.
    public enum Form: String, Sendable, CaseIterable {
        /// Lines of JSON as `changes` prints them.
        case lines = "ndjson"
        /// Lines of JSON, a data point of Open mHealth each.
        case openMHealth = "open-mhealth"
        /// One object, as the app Health Auto Export posts it.
        case healthAutoExport = "health-auto-export"
    }

    /// What a person settles.
    public struct Settings: ExporterSettings {
        /// `url`, `format`, `secret`, `certificateAuthority`.
        public static let keys = ["url", "format", "secret", "certificateAuthority"]
        /// Where to.
        public var url: String
        /// What is posted.
        public var form: Form
        /// What signs; nothing is signed without it.
        public var secret: Secret?
        /// A file of certificates that the receiver's may be signed by; the system's without it.
        public var certificateAuthority: String?

        /// An address, with what signs.
        public init(url: String, form: Form = .lines, secret: Secret? = nil, certificateAuthority: String? = nil) {
            (self.url, self.form, self.secret, self.certificateAuthority) = (url, form, secret, certificateAuthority)
        }

        private enum Key: String, CodingKey { case url, format, secret, certificateAuthority }

        /// - Throws: ``SettingsFault`` where a value does not fit.
        public init(from decoder: any Decoder) throws {
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
                throw SettingsFault("url", "an address begins with http:// or https://")
            }
        }
    }

    /// About a megabyte.
    public let batchLimit = 1000
    /// Our own lines hold every kind.
    public var kinds: Set<SampleKind> {
        switch settings.form {
        case .lines: Set(SampleKind.allCases)
        case .openMHealth: DataPointLine.kinds
        default: [.quantity]
        }
    }
    /// A receiver may keep only what comes last.
    public let isOrdered = true
    private let settings: Settings
    private let context: ExportContext
    private let line: ChangeLine
    private let point = DataPointLine()
    private var session: (client: HTTPClient, signature: Signature?)?

    /// Connects to nothing yet.
    public init(_ settings: Settings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        line = ChangeLine(me: context.me)
    }

    /// A receiver stores no mark: it is known by its address.
    public var address: String { String(settings.url.prefix { $0 != "?" && $0 != "#" }) }

    public var shape: String { settings.form == .lines ? "" : "format=\(settings.form.rawValue)" }

    /// Posts nothing: an empty body, signed, that a receiver answers as any other.
    public func check() throws(DeliveryError) -> [Finding] {
        try post([], id: "check")
        var findings = [Finding(.good, settings.url, "answers")]
        if settings.secret == nil {
            findings.append(
                Finding(.warning, settings.url, "nothing is signed: whoever knows the address can post there (key 'secret')"))
        }
        if settings.url.hasPrefix("http://") {
            findings.append(Finding(.warning, settings.url, "readings go there in the open; https:// hides them"))
        }
        return findings
    }

    /// One request.
    public func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        let (body, leftOut) = try body(of: batch)
        // Nothing that the form has a place for.
        guard !body.isEmpty else { return leftOut }
        guard let first = batch.changes.first, let last = batch.changes.last else { return 0 }
        // The same batch has the same.
        let id = [batch.anchors.first ?? "\(first.uuid)", batch.anchors.last ?? "\(last.uuid)"].joined(separator: "_")
        try post(body, id: "\(context.name)_\(id)")
        return leftOut
    }

    private func body(of batch: ExportBatch) throws(DeliveryError) -> (octets: [UInt8], leftOut: Int) {
        var octets: [UInt8] = []
        var leftOut = 0
        switch settings.form {
        case .lines:
            for (index, change) in batch.changes.enumerated() {
                let anchor = batch.anchors.isEmpty ? "" : batch.anchors[index]
                line.append(change, anchor: anchor, in: context.wantedQuantity, to: &octets)
            }
        case .openMHealth:
            for change in batch.changes where !point.append(change, to: &octets) { leftOut += 1 }
        case .healthAutoExport:
            var object = HealthAutoExport(context)
            for change in batch.changes { try object.add(change) }
            leftOut = object.leftOut
            if leftOut < batch.changes.count { octets = object.octets }
        }
        return (octets, leftOut)
    }

    private func post(_ body: [UInt8], id: String) throws(DeliveryError) {
        let (client, signature) = try opened()
        let time = "\(context.now().microseconds / 1_000_000)"
        var headers = [
            ("Content-Type", settings.form == .healthAutoExport ? "application/json" : "application/x-ndjson"),
            ("webhook-id", id), ("webhook-timestamp", time),
        ]
        if let signature { headers.append(("webhook-signature", signature.text(of: body, id: id, time: time))) }
        let response: HTTPResponse
        do throws(HTTPFailure) {
            response = try client.send(HTTPRequest(.post, settings.url, headers: headers, body: body))
        } catch {
            throw DeliveryError(error.isForAPerson ? .unfit : .unreachable, error.description)
        }
        // Its words may repeat what it was sent.
        guard response.isSuccess else {
            throw DeliveryError(
                status: response.status, retryAfter: response.retryAfter, location: response.headers["location"], words: "")
        }
    }

    private func opened() throws(DeliveryError) -> (client: HTTPClient, signature: Signature?) {
        if let session { return session }
        let signature = try settings.secret.map { secret throws(DeliveryError) in try Signature(secret.read()) }
        do throws(HTTPFailure) {
            let opened = (client: try HTTPClient(certificateAuthority: settings.certificateAuthority), signature: signature)
            session = opened
            return opened
        } catch {
            throw DeliveryError(.unreachable, error.description)
        }
    }

    /// Closes the connection.
    public func finish() { session = nil }
}
