import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// Shows the history of alerts.
struct AlertHistoryReport {
    let context: CommandContext

    /// Writes the episodes, the latest first.
    func write() throws {
        let invocation = context.invocation
        let (store, times) = (try context.openForReading(), try context.times())
        let person = try invocation.string("--person").map { try StoreAccess.person($0, in: store) }
        let alert = try invocation.integer("--alert", in: 1...Int.max).map { Int64($0) }
        let limit = try invocation.integer("--limit", in: 1...100_000) ?? 50
        let (episodes, names) = (try store.alerts.history(of: person, alert: alert, limit: limit), try store.people.names())
        let devices = try store.devices.names()
        if context.format == .ndjson {
            for episode in episodes { try context.streams.output.write(object(episode, store, devices).line) }
            return
        }
        try TableOutput(context: context).write(
            header: [
                "alert", "person", "type", "condition", "began", "late", "doubt", "noticed", "ended", "acknowledged",
                "delivered to", "device",
            ],
            rows: episodes.map { episode in
                let (began, alert) = (episode.began, episode.began.alert)
                return [
                    "\(alert.id)", names[alert.person] ?? alert.person, alert.type.id, alert.condition.rawValue,
                    times.local(began.time), began.isLate ? "late" : "", began.isDoubtful ? "doubtful" : "",
                    times.local(began.noticed),
                    episode.ended.map { times.local($0.time) } ?? "", began.acknowledged.map { times.local($0) } ?? "",
                    episode.receipts.map(\.receiver).joined(separator: ", "), alert.device.map { devices[$0] ?? $0 } ?? "",
                ]
            })
    }

    private func object(_ episode: AlertEpisode, _ store: SampleStore, _ devices: [String: String]) -> JSONObject {
        let (began, alert) = (episode.began, episode.began.alert)
        var object = JSONObject()
        object.set("alert", Int(alert.id))
        object.set("subject", alert.person == store.owner ? "me" : alert.person)
        object.set("type", alert.type.id)
        object.set("condition", alert.condition.rawValue)
        object.set("limit", alert.bound)
        object.set("unit", alert.condition == .missing ? "h" : alert.type.canonicalUnit.code)
        if let device = alert.device {
            object.set("device", devices[device])
            object.set("address", device)
        }
        object.set("began", began.time.description)
        object.set("noticed", began.noticed.description)
        object.set("late", began.isLate)
        object.set("doubtful", began.isDoubtful)
        object.set("ended", episode.ended?.time.description)
        object.set("acknowledged", began.acknowledged?.description)
        object.set(
            "delivered",
            episode.receipts.map { receipt in
                var object = JSONObject()
                object.set("receiver", receipt.receiver)
                object.set("time", receipt.time.description)
                return object
            })
        return object
    }
}
