import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The page for a person's alerts. Today shows those that are raised, and those of the last day.
enum AlertsPage {
    static let routes = [
        PageRoute(method: "GET", path: "alerts", answer: page),
        PageRoute(method: "POST", path: "alerts", body: 4096, answer: change),
    ]

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse { .page(try whole(FormFields(call: call), call)) }

    private static func whole(_ fields: FormFields, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let alerts = try call.records().alerts()
        let rows: [HTML] = try alerts.map { alert in
            let condition = try text(alert, call)
            let state: HTML =
                alert.raised.map { "\(texts("alerts.raised")) \(call.times.element($0))" } ?? "\(texts("alerts.quiet"))"
            let acknowledge: HTML = HTML.choose(
                alert.raised != nil && alert.acknowledged == nil,
                """
                <form method="post" action="/page/alerts">\(FormFields.hidden([("do", "acknowledge"), ("id", "\(alert.id)")]))\
                <button class="quiet">\(texts("alerts.acknowledge"))</button></form>
                """)
            return """
                <tr><th scope="row">\(condition)</th><td>\(state)</td>\
                <td>\(acknowledge)<form method="post" action="/page/alerts">\(FormFields.hidden([("do", "remove"), ("id", "\(alert.id)")]))\
                <button class="quiet" aria-label="\(texts("goals.removeOf", condition))">\(texts("notes.remove"))</button></form></td></tr>
                """
        }
        let options = try GoalsPage.types(call).map { type, name in
            let unit = call.values.symbol(call.values.unit(of: type))
            return (value: type.id, text: unit.isEmpty ? name : "\(name) (\(unit))")
        }
        let devices =
            [(value: "", text: texts("alerts.device.any"))]
            + (try call.records().devices().map { (value: $0.address, text: texts.device($0.displayName)) })
        let conditions = Alert.Condition.allCases.map { (value: $0.rawValue, text: texts("alerts.condition." + $0.rawValue)) }
        let body: HTML = """
            <h1>\(texts("alerts.title"))</h1>
            <p>\(texts("alerts.how"))</p>
            \(try failing(call))
            \(HTML.choose(!rows.isEmpty, ClientsPage.table("alerts", texts("alerts.title"), ["alerts.alert", "care.state", "clients.change"].map { texts($0) }, rows)))
            <h2>\(texts("alerts.add"))</h2>
            <form class="entry" method="post" action="/page/alerts">\(FormFields.hidden([("do", "add")]))
            \(fields.select("type", texts("clients.type"), options, chosen: fields.typed("type")))\
            \(fields.select("condition", texts("alerts.condition"), conditions, chosen: fields.typed("condition")))\
            \(fields.input("bound", texts("alerts.bound"), value: fields.typed("bound") ?? "", attributes: "inputmode=\"decimal\" autocomplete=\"off\" required"))\
            \(HTML.choose(devices.count > 1, fields.select("device", texts("alerts.device"), devices, chosen: fields.typed("device"))))
            \(fields.input("margin", texts("alerts.margin"), value: fields.typed("margin") ?? "", attributes: "inputmode=\"decimal\" autocomplete=\"off\""))\
            \(fields.input("for", texts("alerts.for"), value: fields.typed("for") ?? "", attributes: "inputmode=\"decimal\" autocomplete=\"off\""))\
            \(fields.input("hold", texts("alerts.hold"), value: fields.typed("hold") ?? "3", attributes: "inputmode=\"decimal\" autocomplete=\"off\""))
            <button>\(texts("alerts.add"))</button></form>
            \(try history(call))
            """
        return PageLayout(call: call, title: texts("alerts.title"), place: "/page/alerts").whole(body)
    }

    /// The last alerts of the person: the times, the notified receivers, and the acknowledgment.
    private static func history(_ call: PageCall) throws -> HTML {
        let texts = call.texts
        let episodes = try call.records().alertHistory(limit: 50)
        func time(_ time: Instant?) -> HTML { time.map { "\(call.times.element($0))" } ?? "" }
        let rows: [HTML] = try episodes.map { episode in
            let late: HTML = HTML.choose(episode.began.isLate, " (\(texts("alerts.late")))")
            let doubt: HTML = HTML.choose(episode.began.isDoubtful, " (\(texts("alerts.doubtful")))")
            return """
                <tr><th scope="row">\(try text(episode.began.alert, call))</th><td>\(time(episode.began.time))\(late)\(doubt)</td>\
                <td>\(time(episode.ended?.time))</td><td>\(episode.receipts.map(\.receiver).joined(separator: ", "))</td>\
                <td>\(time(episode.began.acknowledged))</td></tr>
                """
        }
        let headings = ["alerts.alert", "alerts.began", "alerts.ended", "alerts.delivered", "alerts.acknowledged"].map {
            texts($0)
        }
        return HTML.choose(
            !rows.isEmpty,
            "<h2>\(texts("alerts.history"))</h2>\(ClientsPage.table("alert-history", texts("alerts.history"), headings, rows))")
    }

    /// Whether alerts cannot be evaluated, and the receivers that cannot be reached.
    private static func failing(_ call: PageCall) throws -> HTML {
        let lines: [HTML] = try call.records().alertReceivers().compactMap { receiver in
            receiver.failing.map {
                """
                <p class="problem">\(call.texts("alerts.failing", receiver.name)) \(call.texts("alerts.since")) \(call.times.element($0))</p>
                """
            }
        }
        let evaluation: HTML = HTML.choose(
            call.site.settings.hub?.alertsFail() == true, "<p class=\"problem\">\(call.texts("alerts.message.failed"))</p>")
        return evaluation + "\(lines)"
    }

    /// An alert in words, such as `Blood glucose above 180 mg/dL`.
    static func text(_ alert: Alert, _ call: PageCall) throws -> String {
        var name = call.values.name(of: alert.type)
        if let device = alert.device { name += try " (\(call.texts.device(call.records().alertDevices()[device] ?? device)))" }
        guard alert.condition != .missing else { return call.texts("alerts.text.missing", name, PageValues.text(alert.bound)) }
        let (value, unit) = call.values.amount(alert.bound, of: alert.type)
        return call.texts("alerts.text." + alert.condition.rawValue, name, unit.isEmpty ? value : "\(value) \(unit)")
    }

    /// The time in microseconds for which Today shows an alert that is over.
    private static let shownAfterwards: Int64 = 86_400_000_000

    /// The raised alerts of the person, and those of the last 24 hours that are over, until the person has seen them.
    static func recent(_ call: PageCall) throws -> [(alert: Alert, began: Instant, ended: Instant?)] {
        let raised = try call.records().alerts().compactMap { alert in
            alert.raised.map { (alert: alert, began: $0, ended: Instant?.none) }
        }
        // One acknowledgment is for the last time that the alert began.
        var known: Set<Int64> = []
        let past = try call.records().alertHistory(limit: 50).compactMap {
            episode -> (alert: Alert, began: Instant, ended: Instant?)? in
            guard let ended = episode.ended, episode.began.acknowledged == nil,
                call.now.microseconds - ended.noticed.microseconds < shownAfterwards,
                known.insert(episode.began.alert.id).inserted
            else { return nil }
            return (episode.began.alert, episode.began.time, ended.time)
        }
        return raised + past
    }

    @Sendable private static func change(_ call: PageCall) throws -> HTTPResponse {
        switch call.text("do") {
        case "add":
            var fields = FormFields(call: call)
            guard let type = call.text("type").flatMap({ try? SampleType(anyName: $0) }), type.kind == .quantity else {
                throw PageProblem(400, "chooseType")
            }
            guard let condition = call.text("condition").flatMap(Alert.Condition.init(rawValue:)) else {
                throw PageProblem(400, "field", "condition")
            }
            var bound = fields.typed("bound").flatMap(EntryForm.numeral)?.doubleValue
            if condition == .missing {
                bound = bound.flatMap { $0 > 0 && $0 <= SampleStore.Alerts.maximumMissing ? $0 : nil }
            } else if let typed = bound {
                bound = try call.values.unit(of: type).conversion(to: type.canonicalUnit, molarMass: type.molarMass)(typed)
            }
            guard let bound, bound.isFinite else {
                fields.errors["bound"] = condition == .missing ? "alerts.wrong.hours" : "entry.wrong.value"
                return .page(try whole(fields, call), status: 422)
            }
            let device = call.text("device").flatMap { $0.isEmpty ? nil : $0 }
            if let device {
                guard try call.records().devices().contains(where: { $0.address == device }) else {
                    throw PageProblem(400, "field", "device")
                }
                guard condition == .missing else {
                    fields.errors["device"] = "alerts.wrong.device"
                    return .page(try whole(fields, call), status: 422)
                }
            }
            var timing = AlertTiming.defaultTiming
            if condition != .missing {
                if let typed = fields.typed("margin").flatMap(EntryForm.numeral)?.doubleValue, typed > 0 {
                    let back = try type.canonicalUnit.conversion(to: call.values.unit(of: type), molarMass: type.molarMass)(bound)
                    let moved = try call.values.unit(of: type).conversion(to: type.canonicalUnit, molarMass: type.molarMass)(
                        back + typed)
                    timing.margin = abs(moved - bound)
                }
                for (name, part) in [("for", \AlertTiming.lasting), ("hold", \AlertTiming.hold)] {
                    guard let typed = fields.typed(name), !typed.isEmpty else { continue }
                    guard let minutes = EntryForm.numeral(typed)?.doubleValue, (0...1440).contains(minutes) else {
                        fields.errors[name] = "alerts.wrong.minutes"
                        return .page(try whole(fields, call), status: 422)
                    }
                    timing[keyPath: part] = Int64(minutes * 60_000_000)
                }
            }
            try call.doing {
                try call.changes().addAlert(
                    type, condition, bound: bound, device: device, timing: timing, at: call.now)
            }
        case "acknowledge":
            guard let id = call.text("id").flatMap({ Int64($0) }) else { throw PageProblem(404, "alert") }
            try call.changes().acknowledgeAlert(id, at: call.now)
            if call.text("then") == "today" { return call.see("/page/?done=seen") }
        case "remove":
            guard let id = call.text("id").flatMap({ Int64($0) }), try call.changes().removeAlert(id) else {
                throw PageProblem(404, "alert")
            }
        default: throw PageProblem(400, "field", "do")
        }
        return call.see("/page/alerts")
    }
}
