import CommandLineKit
import Formats
import HealthModel
import HomeAssistantSource
import Hub

/// Writes the state of the hub.
struct StatusReport {
    let context: CommandContext
    let zone: TimeZoneRules

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
            // The hub's own radio alone is not worth a table.
            if status.sources.contains(where: { $0.adverts != nil }) {
                blocks.append(receivers(status).rendered(width: width, unicode: unicode))
            }
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
        text += update(status)
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

    /// Only what a person can do something about.
    private func update(_ status: HubStatus) -> String {
        guard let update = status.update else { return "" }
        var parts: [String] = []
        if let version = update.available { parts.append("\(version) is available ('sudo vitalgate update apply')") }
        parts += [update.trouble, update.failure].compactMap { $0 }
        return parts.map { "update  \(TerminalText.sanitized($0))\n" }.joined()
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
        if let radios = source.radios { parts.append(Readable.count(radios.count, "radio")) }
        if let adverts = source.adverts {
            parts.append("\(Readable.count(adverts.received)) received")
            let limits = [
                (adverts.replayed, "from memory"), (adverts.torn, "incomplete"), (adverts.dropped, "dropped"),
                (adverts.interruptions, adverts.interruptions == 1 ? "interruption" : "interruptions"),
            ]
            parts += limits.filter { $0.0 > 0 }.map { "\(Readable.count($0.0)) \($0.1)" }
        }
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

    private func receivers(_ status: HubStatus) -> TextTable {
        var table = TextTable(columns: [
            .init("device", .left, minimumWidth: 16), .init("heard by"), .init("dBm", .right),
            .init("last heard", .left, minimumWidth: 8), .init("times", .right),
        ])
        for device in status.devices {
            for each in device.receivers ?? [] {
                table.append([
                    device.name.isEmpty ? device.address : device.name, each.name, each.strength.map { "\($0)" } ?? "",
                    time(each.last, on: status.time), Readable.count(each.count),
                ])
            }
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

    /// The fields of a part, which are a JSON object, or rows of CSV.
    typealias Fields = KeyValuePairs<String, (any JSONRepresentable)?>

    static func object(_ status: HubStatus) -> JSONObject {
        var today = JSONObject(["since": status.today.since])
        for (name, count) in counts(status.today) { today.set(name, count) }
        today.set("failure", status.today.failure)
        today.set("waiting", status.today.waiting)
        var object: JSONObject = [
            "time": status.time, "hub": status.hub.map { JSONObject(fields($0)) }, "store": JSONObject(fields(status.store)),
            "today": today,
            "quarantine": (status.quarantine ?? []).map { JSONObject(["rule": $0.rule, "count": $0.count, "since": $0.since]) },
            "sources": status.sources.map(object),
            "devices": status.devices.map(object),
            "devicesLeftOut": status.devicesLeftOut,
            "backups": ifPresent(status.backups?.map { JSONObject(["name": $0.name], fields($0)) }),
        ]
        if let update = status.update { object.set("update", JSONObject(fields(update))) }
        return object
    }

    private static func object(_ source: HubStatus.Source) -> JSONObject {
        var object = JSONObject(["name": source.name], fields(source))
        let refusals = source.refusals?.map { JSONObject(["bound": $0.bound, "count": $0.count, "since": $0.since]) }
        object.set("refusals", ifPresent(refusals))
        object.set("adverts", ifPresent(source.adverts.map { JSONObject(fields($0)) }))
        object.set("radios", ifPresent(source.radios))
        return object
    }

    private static func object(_ device: HubStatus.Device) -> JSONObject {
        var object = JSONObject(["address": device.address], fields(device))
        let receivers = device.receivers?.map {
            JSONObject(["name": $0.name, "strength": $0.strength, "last": $0.last, "count": $0.count])
        }
        object.set("receivers", ifPresent(receivers))
        return object
    }

    private static func fields(_ adverts: AdvertCounts) -> Fields {
        [
            "received": adverts.received, "replayed": adverts.replayed, "torn": adverts.torn, "dropped": adverts.dropped,
            "interruptions": adverts.interruptions,
        ]
    }

    private static func fields(_ hub: HubStatus.Process) -> Fields {
        ["process": Int(hub.process), "started": hub.started, "uptime": hub.uptime]
    }

    private static func fields(_ store: HubStatus.Store) -> Fields {
        ["path": store.path, "bytes": store.bytes, "failure": store.failure]
    }

    private static func fields(_ source: HubStatus.Source) -> Fields {
        [
            "state": source.state, "started": source.started, "retry": source.retry, "reason": source.reason,
            "wrongTokens": ifPresent(source.wrongTokens), "refusedForLoad": ifPresent(source.refusedForLoad),
        ]
    }

    private static func fields(_ backup: HubStatus.Backup) -> Fields {
        ["made": backup.made, "proven": backup.proven, "away": backup.away, "failure": backup.failure]
    }

    /// The fields of the state of updates, also for `update status`.
    static func fields(_ update: UpdateState) -> Fields {
        [
            "checked": update.checked, "failure": update.failure, "installed": update.installed, "available": update.available,
            "outcome": update.last?.outcome.rawValue, "time": update.last?.time, "from": update.last?.from,
            "to": update.last?.to, "reason": update.last?.reason,
        ]
    }

    private static func fields(_ device: HubStatus.Device) -> Fields {
        [
            "name": device.name, "source": device.source, "state": device.state, "reason": device.reason, "last": device.last,
            "rate": device.rate, "expectedInterval": device.expectedInterval, "silentSince": device.silentSince,
            "battery": device.battery,
        ]
    }

    /// The counts of readings, or `nil` for each of them if they could not be counted.
    private static func counts(_ today: HubStatus.Today) -> [(String, Int?)] {
        let counts = [
            ("read", today.read), ("stored", today.stored), ("duplicate", today.duplicate), ("quarantined", today.quarantined),
            ("refused", today.refused), ("skipped", today.skipped),
        ]
        return counts.map { ($0.0, today.failure == nil ? $0.1 : nil) }
    }

    /// One row per field, since hub, sources and devices have different columns.
    private static func csv(_ status: HubStatus, _ writer: CSVWriter) -> [UInt8] {
        var bytes: [UInt8] = []
        writer.append(row: ["part", "name", "field", "value"], to: &bytes)
        func add(_ part: String, _ name: String, _ fields: Fields) {
            for case (let field, let value?) in fields {
                if let text = value.text { writer.append(row: [part, name, field, text], to: &bytes) }
            }
        }
        add("hub", "", ["state": status.hub == nil ? "stopped" : "running", "time": status.time])
        if let hub = status.hub { add("hub", "", fields(hub)) }
        add("store", "", fields(status.store))
        add("today", "", ["since": status.today.since])
        for (name, count) in counts(status.today) { add("today", "", [name: count]) }
        add("today", "", ["failure": status.today.failure, "waiting": status.today.waiting])
        for each in status.quarantine ?? [] { add("quarantine", each.rule, ["count": each.count, "since": each.since]) }
        for source in status.sources {
            add("source", source.name, fields(source))
            for each in source.refusals ?? [] {
                let name = "refused.\(each.bound)"
                add("source", source.name, [name: each.count, name + ".since": each.since])
            }
            if let adverts = source.adverts { add("source", source.name, fields(adverts)) }
        }
        for backup in status.backups ?? [] { add("backup", backup.name, fields(backup)) }
        if let update = status.update { add("update", "", fields(update)) }
        for device in status.devices {
            add("device", device.address, fields(device))
            for each in device.receivers ?? [] {
                let name = "receiver.\(each.name)"
                add("device", device.address, [name: each.count])
                add("device", device.address, [name + ".strength": each.strength, name + ".last": each.last])
            }
        }
        return bytes
    }
}
