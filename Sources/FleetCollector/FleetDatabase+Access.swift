import FleetProtocol
import Pipeline

/// Whose requests are carried out.
extension FleetDatabase {
    /// Returns the reason why a request is refused, for each of some requests, or `nil`.
    ///
    /// - Parameters:
    ///   - requests: The stores of the requests, as the broker reports them, with the senders that have sealed them.
    ///   - requiresEnrollment: Whether only hubs that have joined may send, each sealed with its own key. Otherwise hubs that the broker lets
    ///     in without a code may send too, and a request without a seal counts as its store's.
    func refusals(
        of requests: [(store: String, sender: RequestSender)], requiresEnrollment: Bool
    ) throws(DeliveryError) -> [DeliveryError?] {
        // A store has only letters, digits, - and _ (``FleetSubject``).
        func list(_ texts: [String]) -> String { "{\(texts.joined(separator: ","))}" }
        let rows = try connection.runPrepared(
            """
            SELECT CASE WHEN f.revoked IS NOT NULL THEN 'revoked' WHEN f.id IS NULL AND $3::boolean THEN 'unknown'
                WHEN r.key <> f.key AND ($3::boolean OR r.key <> '\(Self.unsealed)') THEN 'foreign' END
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS r(store, key, place)
                LEFT JOIN \(schema).fleet_hub f ON f.store = r.store ORDER BY r.place
            """,
            [list(requests.map(\.store)), list(requests.map { Self.key(of: $0.sender) }), requiresEnrollment ? "t" : "f"])
        // A revocation is final until a person acts, so it is not an outage.
        return rows.map { row in
            row[0].map { DeliveryError(.unauthorised, Self.words(of: $0), isLasting: $0 == "revoked") }
        }
    }

    private static func words(of reason: String) -> String {
        switch reason {
        case "revoked": "the center has revoked this hub: at the center, 'vitalgate fleet replace' lets it join again"
        case "unknown": "the center accepts only hubs that have joined: let this one join with 'vitalgate fleet join'"
        default:
            "the request is not sealed with the key of this hub: 'nkey' and 'seedFile' are not those with which it has joined"
        }
    }

    private static let unsealed = "unsealed"

    /// The public key of a sender, or a word that is not one.
    private static func key(of sender: RequestSender) -> String {
        switch sender {
        case .unsealed: unsealed
        case .unnamed: "unnamed"
        case .hub(let key): key
        }
    }
}
