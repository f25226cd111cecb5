import CommandLineKit
import Formats
import HealthModel
import SampleStore

struct AlertHistoryReport {
    let context: CommandContext

    /// Writes the episodes, the latest first.
    func write() throws {
        let invocation = context.invocation
        let (store, times) = (try context.openForReading(), try context.times())
        let person = try context.person(in: store)
        let alert = try invocation.integer("--alert", in: 1...Int.max).map { Int64($0) }
        let limit = try invocation.integer("--limit", in: 1...100_000) ?? 50
        let (episodes, names) = (try store.alerts.history(of: person, alert: alert, limit: limit), try store.people.names())
        let devices = try store.devices.names()
        try context.write(
            episodes,
            [
                Field("alert") { $0.alert.id }, .person(names, store) { $0.alert.person }, Field("type") { $0.alert.type.id },
                Field("condition") { $0.alert.condition.rawValue },
                .json("limit") { $0.alert.bound }, .json("unit") { $0.alert.unit },
                .json("device") { episode in
                    guard let device = episode.alert.device else { return ifPresent(nil) }
                    return devices[device]
                },
                .json("address") { ifPresent($0.alert.device) }, Field("began") { $0.began.time },
                .json("noticed") { $0.began.noticed }, Field("late", cell: { $0.began.isLate ? "late" : "" }) { $0.began.isLate },
                Field("doubtful", "doubt", cell: { $0.began.isDoubtful ? "doubtful" : "" }) { $0.began.isDoubtful },
                .column("noticed") { times.local($0.began.noticed) }, Field("ended") { $0.ended?.time },
                Field("acknowledged") { $0.began.acknowledged },
                Field("delivered", "delivered to", cell: { $0.receipts.map(\.receiver).joined(separator: ", ") }) { episode in
                    episode.receipts.map { JSONObject(["receiver": $0.receiver, "time": $0.time]) }
                },
                .column("device") { $0.alert.device.map { devices[$0] ?? $0 } ?? "" },
            ])
    }
}

extension AlertEpisode {
    fileprivate var alert: Alert { began.alert }
}

extension Alert {
    /// The code of the limit's unit.
    var unit: String { condition == .missing ? "h" : type.canonicalUnit.code }
}
