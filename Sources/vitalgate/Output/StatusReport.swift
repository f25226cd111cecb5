import CommandLineKit
import Formats
import HealthModel
import Hub

/// Writes the state of the hub.
struct StatusReport {
    let zone: TimeZoneRules
    private let context: CommandContext

    init(context: CommandContext, zone: TimeZoneRules) {
        self.context = context
        self.zone = zone
    }

    func write(_ status: HubStatus) throws {
        let output = context.streams.output
        switch context.format {
        case .ndjson: try output.write(Self.object(status).line)
        case .csv: try output.write(Self.csv(status, context.csv))
        case .table:
            let terminal = context.streams.outputTerminal
            try output.write(page(status, width: terminal.width, unicode: terminal.isUnicode) + "\n")
        }
    }

    // MARK: For people

    /// The complete report, without a line feed at the end.
    func page(_ status: HubStatus, width: Int?, unicode: Bool) -> String {
        var blocks = [summary(status)]
        if !status.sources.isEmpty { blocks.append(sources(status).rendered(width: width, unicode: unicode)) }
        if !status.devices.isEmpty {
            blocks.append(devices(status).rendered(width: width, unicode: unicode))
            let reasons = status.devices.compactMap { device in
                let name = device.name.isEmpty ? device.address : device.name
                return device.reason.map { "\(TerminalText.sanitized(name)) is waiting: \(TerminalText.sanitized($0))\n" }
            }
            if !reasons.isEmpty { blocks.append(reasons.joined()) }
        } else {
            blocks.append("no device is adopted\n")
        }
        if status.devicesLeftOut > 0 { blocks.append("and \(Readable.count(status.devicesLeftOut, "more device"))\n") }
        return String(blocks.joined(separator: "\n").dropLast())
    }

    /// The longest uptime to show, in seconds (about a century). The other process may send any number.
    private static let maximumUptime = 3_200_000_000

    private func summary(_ status: HubStatus) -> String {
        var text = "hub     "
        if let hub = status.hub {
            let since = String(Readable.local(hub.started, at: zone.offset(at: hub.started)).prefix(19))
            let age = Readable.duration(nanoseconds: UInt64(min(max(0, hub.uptime), Self.maximumUptime)) * 1_000_000_000)
            text += "running since \(since), \(age) (process \(hub.process))\n"
        } else {
            text += "not running\n"
        }
        let today = status.today
        text += "store   \(TerminalText.sanitized(status.store.path)), \(Readable.bytes(status.store.bytes))\n"
        if let failure = status.store.failure { text += "        \(TerminalText.sanitized(failure))\n" }
        text += backups(status)
        guard today.failure == nil else { return text + "today   unknown: the readings could not be counted\n" }
        let parts = [
            (today.stored, "stored"), (today.duplicate, "duplicate"), (today.quarantined, "quarantined"),
            (today.refused, "refused"),
        ]
        text += "today   \(Readable.count(today.read, "reading")): "
        text += parts.map { "\(Readable.count($0.0)) \($0.1)" }.joined(separator: ", ")
        text += "; \(Readable.count(today.skipped)) skipped"
        if let waiting = today.waiting, waiting > 0 { text += "; \(Readable.count(waiting)) not yet written" }
        text += "\n"
        for each in status.quarantine ?? [] {
            let since = String(Readable.local(each.since, at: zone.offset(at: each.since)).prefix(16))
            text +=
                "held    \(Readable.count(each.count, "reading")) in quarantine since \(since): \(TerminalText.sanitized(each.rule))\n"
        }
        return text
    }

    private func backups(_ status: HubStatus) -> String {
        func date(_ time: Instant) -> String { String(Readable.local(time, at: zone.offset(at: time)).prefix(16)) }
        return (status.backups ?? []).map { each in
            var parts = [each.made.map { "last \(date($0))" } ?? "none yet"]
            parts.append(each.proven.map { "proven \(date($0)) (\(age(of: $0, on: status.time)))" } ?? "not proven yet")
            if let away = each.away { parts.append("not connected since \(date(away))") }
            if let failure = each.failure { parts.append(TerminalText.sanitized(failure)) }
            return "backup  \(TerminalText.sanitized(each.name)): \(parts.joined(separator: ", "))\n"
        }.joined()
    }

    private func age(of time: Instant, on now: Instant) -> String {
        let days = max(0, now.microseconds - time.microseconds) / 86_400_000_000
        return days == 0 ? "today" : days == 1 ? "1 day ago" : "\(days) days ago"
    }

    private func sources(_ status: HubStatus) -> TextTable {
        var table = TextTable(columns: [
            .init("source"), .init("state"), .init("since", .left, minimumWidth: 19), .init("retry at", .left, minimumWidth: 19),
            .init("why"),
        ])
        for source in status.sources {
            table.append([
                source.name, source.state, source.state == "running" ? time(source.started, on: status.time) : "",
                time(source.retry, on: status.time),
                source.reason ?? noted(source, at: status.time),
            ])
        }
        return table
    }

    private func noted(_ source: HubStatus.Source, at now: Instant) -> String {
        var parts: [String] = []
        if let count = source.wrongTokens, count > 0 { parts.append(Readable.count(count, "wrong token")) }
        if let count = source.refusedForLoad, count > 0 { parts.append("\(Readable.count(count, "request")) refused for load") }
        for each in source.refusals ?? [] { parts.append("\(each.bound) \(each.count) since \(time(each.since, on: now))") }
        return parts.joined(separator: ", ")
    }

    private func devices(_ status: HubStatus) -> TextTable {
        var table = TextTable(columns: [
            .init("device", .left, minimumWidth: 16), .init("source"), .init("state"),
            .init("last reading", .left, minimumWidth: 19),
            .init("per min", .decimal), .init("silent since", .left, minimumWidth: 19), .init("battery", .right),
            .init("address"),
        ])
        for device in status.devices {
            table.append([
                device.name, device.source ?? "", device.state ?? "", time(device.last, on: status.time),
                device.rate.map { Readable.number($0) } ?? "", time(device.silentSince, on: status.time),
                device.battery.map { "\(Readable.number($0)) %" } ?? "", device.address,
            ])
        }
        return table
    }

    /// A time without the date if it is today, so that a row fits into 80 columns.
    private func time(_ instant: Instant?, on day: Instant) -> String {
        guard let instant else { return "" }
        let text = Readable.local(instant, at: zone.offset(at: instant)).prefix(19)
        let today = Readable.local(day, at: zone.offset(at: day)).prefix(10)
        return String(text.prefix(10) == today ? text.dropFirst(11) : text)
    }

    // MARK: For programs

    static func object(_ status: HubStatus) -> JSONObject {
        var object = JSONObject()
        object.set("time", status.time.description)
        if let hub = status.hub {
            var process = JSONObject()
            process.set("process", Int(hub.process))
            process.set("started", hub.started.description)
            process.set("uptime", hub.uptime)
            object.set("hub", process)
        } else {
            object.set("hub", String?.none)
        }
        var store = JSONObject()
        store.set("path", status.store.path)
        store.set("bytes", status.store.bytes)
        store.set("failure", status.store.failure)
        object.set("store", store)
        var today = JSONObject()
        today.set("since", status.today.since.description)
        for (name, count) in counts(status.today) { today.set(name, status.today.failure == nil ? count : nil) }
        today.set("failure", status.today.failure)
        today.set("waiting", status.today.waiting)
        object.set("today", today)
        object.set(
            "quarantine",
            (status.quarantine ?? []).map { each in
                var object = JSONObject()
                object.set("rule", each.rule)
                object.set("count", each.count)
                object.set("since", each.since.description)
                return object
            })
        object.set("sources", status.sources.map(Self.object))
        object.set("devices", status.devices.map(Self.object))
        object.set("devicesLeftOut", status.devicesLeftOut)
        if let backups = status.backups { object.set("backups", backups.map(Self.object)) }
        return object
    }

    private static func object(_ source: HubStatus.Source) -> JSONObject {
        var object = JSONObject()
        object.set("name", source.name)
        object.set("state", source.state)
        object.set("started", source.started?.description)
        object.set("retry", source.retry?.description)
        object.set("reason", source.reason)
        if let count = source.wrongTokens { object.set("wrongTokens", count) }
        if let count = source.refusedForLoad { object.set("refusedForLoad", count) }
        if let refusals = source.refusals {
            object.set(
                "refusals",
                refusals.map { each in
                    var refusal = JSONObject()
                    refusal.set("bound", each.bound)
                    refusal.set("count", each.count)
                    refusal.set("since", each.since.description)
                    return refusal
                })
        }
        return object
    }

    private static func object(_ backup: HubStatus.Backup) -> JSONObject {
        var object = JSONObject()
        object.set("name", backup.name)
        object.set("made", backup.made?.description)
        object.set("proven", backup.proven?.description)
        object.set("away", backup.away?.description)
        object.set("failure", backup.failure)
        return object
    }

    private static func object(_ device: HubStatus.Device) -> JSONObject {
        var object = JSONObject()
        object.set("address", device.address)
        object.set("name", device.name)
        object.set("source", device.source)
        object.set("state", device.state)
        object.set("reason", device.reason)
        object.set("last", device.last?.description)
        object.set("rate", device.rate)
        object.set("expectedInterval", device.expectedInterval)
        object.set("silentSince", device.silentSince?.description)
        object.set("battery", device.battery)
        return object
    }

    private static func counts(_ today: HubStatus.Today) -> [(String, Int)] {
        [
            ("read", today.read), ("stored", today.stored), ("duplicate", today.duplicate), ("quarantined", today.quarantined),
            ("refused", today.refused), ("skipped", today.skipped),
        ]
    }

    /// One row per field, since hub, sources and devices have different columns.
    private static func csv(_ status: HubStatus, _ writer: CSVWriter) -> [UInt8] {
        var rows = [["part", "name", "field", "value"]]
        func add(_ part: String, _ name: String, _ fields: [(String, String?)]) {
            for (field, value) in fields { if let value { rows.append([part, name, field, value]) } }
        }
        add("hub", "", [("state", status.hub == nil ? "stopped" : "running"), ("time", status.time.description)])
        if let hub = status.hub {
            add(
                "hub", "",
                [("process", "\(hub.process)"), ("started", hub.started.description), ("uptime", "\(hub.uptime)")])
        }
        let store = status.store
        add("store", "", [("path", store.path), ("bytes", "\(store.bytes)"), ("failure", store.failure)])
        add("today", "", [("since", status.today.since.description)])
        add("today", "", counts(status.today).map { ($0.0, status.today.failure == nil ? "\($0.1)" : nil) })
        add("today", "", [("failure", status.today.failure)])
        add("today", "", [("waiting", status.today.waiting.map(\.description))])
        for each in status.quarantine ?? [] {
            add("quarantine", each.rule, [("count", "\(each.count)"), ("since", each.since.description)])
        }
        for source in status.sources {
            add(
                "source", source.name,
                [
                    ("state", source.state), ("started", source.started?.description), ("retry", source.retry?.description),
                    ("reason", source.reason), ("wrongTokens", source.wrongTokens.map(\.description)),
                    ("refusedForLoad", source.refusedForLoad.map(\.description)),
                ]
                    + (source.refusals ?? []).flatMap {
                        [("refused.\($0.bound)", "\($0.count)"), ("refused.\($0.bound).since", $0.since.description)]
                    })
        }
        for backup in status.backups ?? [] {
            add(
                "backup", backup.name,
                [
                    ("made", backup.made?.description), ("proven", backup.proven?.description),
                    ("away", backup.away?.description), ("failure", backup.failure),
                ])
        }
        for device in status.devices {
            add(
                "device", device.address,
                [
                    ("name", device.name), ("source", device.source), ("state", device.state), ("reason", device.reason),
                    ("last", device.last?.description),
                    ("rate", device.rate.map(\.description)), ("expectedInterval", device.expectedInterval.map(\.description)),
                    ("silentSince", device.silentSince?.description), ("battery", device.battery.map(\.description)),
                ])
        }
        var bytes: [UInt8] = []
        for row in rows { writer.append(row: row, to: &bytes) }
        return bytes
    }
}
