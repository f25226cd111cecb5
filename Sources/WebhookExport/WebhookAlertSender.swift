import HealthModel
import Pipeline

/// Posts each message about an alert to a URL as one JSON object, signed according to Standard Webhooks if there is a secret.
package final class WebhookAlertSender: AlertSender {
    private let connection: WebhookConnection

    /// Creates a sender without connecting.
    package init(_ settings: WebhookExporter.Settings, now: @escaping () -> Instant) {
        connection = WebhookConnection(settings, now: now)
    }

    package func send(_ message: AlertMessage) throws(DeliveryError) {
        do throws(DeliveryError) {
            try connection.post(message.json, type: "application/json", id: message.id)
        } catch {
            // The next attempt reads the secret again, which the user may have corrected.
            connection.close()
            throw error
        }
    }

    package func finish() { connection.close() }
}
