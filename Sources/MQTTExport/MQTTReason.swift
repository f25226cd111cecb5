import CMosquitto
import Glibc
import Pipeline

/// Texts and errors for the codes of the library and the broker.
enum MQTTReason {
    /// Returns the text of a library code (below 128) or a broker code.
    static func text(_ code: Int32) -> String {
        if code == MOSQ_ERR_ERRNO.rawValue { return String(cString: strerror(errno)) }
        return String(cString: code >= 0x80 ? mosquitto_reason_string(code) : mosquitto_strerror(code))
    }

    /// Returns the error for a broker's reason code (MQTT 5, section 2.4).
    ///
    /// - Parameter topic: The topic that could not be published.
    static func refusal(_ code: Int32, topic: String? = nil) -> DeliveryError {
        let reason = "the broker reports: \(text(code))" + (topic.map { " (publishing \($0))" } ?? "")
        return switch UInt32(bitPattern: code) {
        case MQTT_RC_BAD_USERNAME_OR_PASSWORD.rawValue, MQTT_RC_NOT_AUTHORIZED.rawValue, MQTT_RC_BANNED.rawValue,
            MQTT_RC_BAD_AUTHENTICATION_METHOD.rawValue:
            DeliveryError(.unauthorised, reason)
        // A broker of MQTT 3.1.1 answers 1.
        case 1, MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue: DeliveryError(.unfit, "the broker does not speak MQTT 5")
        case MQTT_RC_CLIENTID_NOT_VALID.rawValue, MQTT_RC_QOS_NOT_SUPPORTED.rawValue, MQTT_RC_RETAIN_NOT_SUPPORTED.rawValue,
            MQTT_RC_USE_ANOTHER_SERVER.rawValue, MQTT_RC_SERVER_MOVED.rawValue:
            DeliveryError(.unfit, reason)
        case MQTT_RC_TOPIC_NAME_INVALID.rawValue, MQTT_RC_PAYLOAD_FORMAT_INVALID.rawValue, MQTT_RC_PACKET_TOO_LARGE.rawValue:
            DeliveryError(.refused, reason)
        case MQTT_RC_QUOTA_EXCEEDED.rawValue: DeliveryError(.busy(.seconds(60)), reason)
        default: DeliveryError(.unreachable, reason)
        }
    }
}
