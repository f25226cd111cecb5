import HealthModel
import Pipeline

/// Posts each message about an alert to a URL as one JSON object, signed according to Standard Webhooks if there is a secret.
public final class WebhookAlertSender: AlertSender {
    private let connection: WebhookConnection

    /// Creates a sender without connecting.
    public init(_ settings: WebhookExporter.Settings, now: @escaping () -> Instant) {
        connection = WebhookConnection(settings, now: now)
    }

    /// Posts a message.
    public func send(_ message: AlertMessage) throws(DeliveryError) {
        do throws(DeliveryError) {
            try connection.post(message.json, type: "application/json", id: message.id)
        } catch {
            // The next attempt reads the secret again, which the user may have corrected.
            connection.close()
            throw error
        }
    }

    /// Closes the connection.
    public func finish() { connection.close() }
}
