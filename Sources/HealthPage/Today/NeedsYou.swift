import HealthModel
import HealthServing
import SampleStore

/// What needs the person: alerts of the last day, backups that fail, readings that need a decision, and sensors of the hub that are silent or have a low
/// battery.
struct NeedsYou {
    private struct Item {
        var icon = Icon.warning
        var isBad = false
        /// Whether a screen reader announces it.
        var isAlert = false
        var title: String
        var text: HTML = ""
        var actions: HTML
    }

    private static let maximum = 3
    private static let lowBattery = 15.0
    private let items: [Item]
    private let call: PageCall

    init(_ call: PageCall) throws {
        self.call = call
        items = try Self.evaluation(call) + Self.alerts(call) + Self.backups(call) + Self.doubts(call) + Self.sensors(call)
    }

    /// At most three matters, and the number of the others.
    var html: HTML {
        guard !items.isEmpty else { return "" }
        let shown: [HTML] = items.prefix(Self.maximum).map { item in
            """
            <div class="need\(item.isBad ? " bad" : "")"\(HTML.choose(item.isAlert, " role=\"alert\""))>\(item.icon.html)<h2>\(item.title)</h2>\
            \(HTML.choose(!item.text.text.isEmpty, "<p>\(item.text)</p>"))<div class="acts">\(item.actions)</div></div>

            """
        }
        let rest = items.count - shown.count
        let more: HTML = "<p class=\"note\"><a href=\"/page/care\">\(call.texts("needs.more", "\(rest)"))</a></p>"
        return """
            <section class="needs" aria-label="\(call.texts("needs.title"))">\(shown)</section>\(HTML.choose(rest > 0, more))
            """
    }

    private static func alerts(_ call: PageCall) throws -> [Item] {
        let texts = call.texts
        return try AlertsPage.recent(call).map { alert, begin, end in
            let name = try AlertsPage.text(alert, call)
            let time: HTML =
                end.map { "\(call.times.element(begin)) – \(call.times.element($0))" }
                ?? "\(texts("alerts.since")) \(call.times.element(begin))"
            let look: HTML =
                "<a href=\"/page/type/\(alert.type.id)\" aria-label=\"\(texts("needs.lookAt", name))\">\(texts("needs.look"))</a>"
            let seen: HTML = """
                <form method="post" action="/page/alerts">\(FormFields.hidden([("do", "acknowledge"), ("id", "\(alert.id)"), ("then", "today")]))\
                <button aria-label="\(texts("alerts.seenOf", name))">\(texts("alerts.seen"))</button></form>
                """
            // An alert that goes on stays until it is over.
            let isSeen = end == nil && alert.acknowledged != nil
            return Item(
                icon: .bell, isBad: true, isAlert: end == nil, title: name, text: time, actions: isSeen ? look : look + seen)
        }
    }

    /// Alerts that cannot be evaluated, for each person who has some.
    private static func evaluation(_ call: PageCall) throws -> [Item] {
        guard let hub = call.site.settings.hub, try !call.records().alerts().isEmpty, hub.alertsFail() else { return [] }
        let title = call.texts("alerts.title")
        return [
            Item(
                isBad: true, isAlert: true, title: title, text: "\(call.texts("alerts.message.failed"))",
                actions:
                    "<a href=\"/page/alerts\" aria-label=\"\(call.texts("needs.lookAt", title))\">\(call.texts("needs.look"))</a>"
            )
        ]
    }

    private static func backups(_ call: PageCall) -> [Item] {
        guard call.isOwner, let hub = call.site.settings.hub else { return [] }
        let texts = call.texts
        return hub.backups().compactMap { backup in
            guard let trouble = backup.trouble else { return nil }
            let title = texts("backups.at", backup.name)
            return Item(
                title: title, text: "\(texts("alerts.message.backup\(trouble)", backup.name, "\(backup.days)"))",
                actions: "<a href=\"/page/hub\" aria-label=\"\(texts("needs.lookAt", title))\">\(texts("needs.look"))</a>")
        }
    }

    /// The maximum number of quarantined readings among which those are looked for that can be accepted at once.
    private static let maximumQuarantined = 50

    private static func doubts(_ call: PageCall) throws -> [Item] {
        let texts = call.texts
        let doubts = try call.doubts()
        let quarantined = try call.records().quarantined(limit: maximumQuarantined)
        let suspicions = try call.suspicions().all
        let types = Set(doubts.quarantined.keys).union(doubts.suspicious.keys).map { (type: $0, name: call.values.name(of: $0)) }
            .sorted { ($0.name, $0.type.id) < ($1.name, $1.type.id) }
        return types.compactMap { type, name in
            let (quarantinedCount, suspicious) = (doubts.quarantined[type] ?? 0, doubts.suspicious[type] ?? 0)
            guard quarantinedCount + suspicious > 0 else { return nil }
            var words: [String] = []
            if quarantinedCount > 0 { words.append(texts("card.quarantined", "\(quarantinedCount)")) }
            let ranges = suspicions.filter { $0.series.type == type }.map(\.range)
            for range in ranges {
                let (taken, fits) = (call.values.symbol(range.taken), call.values.symbol(range.fits))
                words.append(texts("care.fits", "\(range.count)", taken, fits))
            }
            var actions: HTML =
                "<a href=\"/page/care\" aria-label=\"\(texts("needs.reviewOf", name))\">\(texts("needs.review"))</a>"
            // A single reading can be accepted here. Several are judged one by one.
            if suspicious == 0, quarantinedCount == 1,
                let only = quarantined.first(where: { $0.stored.sample.origin.type == type })
            {
                actions += """
                    <form method="post" action="/page/care/held/\(only.stored.sample.identity.description)"><input type="hidden" name="then" value="today">\
                    <button name="do" value="accept" aria-label="\(texts("needs.rightOf", name))">\(texts("needs.right"))</button></form>
                    """
            }
            if quarantinedCount == 0, suspicious == 1, let only = suspicions.first(where: { $0.series.type == type }) {
                actions += RepairPage.dismissalForm(only, call)
            }
            return Item(title: name, text: "\(words.joined(separator: " "))", actions: actions)
        }
    }

    private static func sensors(_ call: PageCall) throws -> [Item] {
        guard call.isOwner, let hub = call.site.settings.hub else { return [] }
        let texts = call.texts
        return hub.devices().devices.compactMap { device in
            var words: [String] = []
            if let silent = device.silentSince { words.append(texts("devices.silent", call.times.text(silent))) }
            if let battery = device.battery, battery < lowBattery { words.append(texts("devices.low")) }
            guard !words.isEmpty else { return nil }
            let name = texts.device(device.name)
            return Item(
                icon: .sensor, title: name, text: "\(words.joined(separator: " "))",
                actions: "<a href=\"/page/devices\" aria-label=\"\(texts("needs.lookAt", name))\">\(texts("needs.look"))</a>")
        }
    }
}
