import HTTPClientKit
import HealthModel
import Pipeline

/// Posts bodies to a URL, signed according to Standard Webhooks if there is a secret.
final class WebhookConnection {
    private let settings: WebhookExporter.Settings
    private let now: () -> Instant
    private var session: (client: HTTPClient, signature: Signature?)?

    /// Creates a connection without connecting.
    init(_ settings: WebhookExporter.Settings, now: @escaping () -> Instant) { (self.settings, self.now) = (settings, now) }

    /// - Parameter id: The message's id. The receiver recognizes a repetition by it.
    func post(_ body: [UInt8], type: String, id: String) throws(DeliveryError) {
        let (client, signature) = try opened()
        let time = "\(now().microseconds / 1_000_000)"
        var headers = [("Content-Type", type), ("webhook-id", id), ("webhook-timestamp", time)]
        if let signature { headers.append(("webhook-signature", signature.text(of: body, id: id, time: time))) }
        let response: HTTPResponse
        do throws(HTTPFailure) {
            response = try client.send(HTTPRequest(.post, settings.url, headers: headers, body: body))
        } catch {
            throw DeliveryError(error.isForAPerson ? .unfit : .unreachable, error.description)
        }
        // The receiver's message may repeat our data.
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

    func close() { session = nil }
}
