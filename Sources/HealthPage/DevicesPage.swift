import Dispatch
import FoundationEssentials
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// A nearby device, as `vitalgate scan --format ndjson` prints it.
struct NearbyLine: Decodable, Sendable {
    var address: String
    var durable: Bool
    var name: String?
    var strength: Int?
    var profiles: [String]
    var adopted: Bool
    var bonded: Bool
}

/// The page for the hub's devices: their state and advice, nearby devices, adoption, pairing, and assignment to a person.
enum DevicesPage {
    static let routes = [
        PageRoute(method: "GET", path: "devices", right: .owner, answer: page),
        PageRoute(method: "POST", path: "devices", right: .owner, body: 4096, answer: act),
    ]

    private static let seconds = 8

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let (texts, work) = (call.texts, call.site.hubWork.now)
        let reported = call.site.settings.hub?.devices()
        let store = try call.ownerReader().store
        let names = try call.personNames()
        let adopted = try store.devices.adopted()
        let shared = Set(try ScaleUse.suspected(in: store).flatMap(\.devices))
        let cards: [HTML] = adopted.map { device in
            let state = reported?.devices.first { $0.address == device.address }
            return card(
                device, state, isRunning: reported?.isRunning ?? false, isShared: shared.contains(device.address), names, call)
        }
        let running: HTML = work.running.map { "<p role=\"status\">\(texts("devices.running." + $0))</p>" } ?? ""
        let outcome: HTML =
            work.outcome.map { outcome in
                let isDone = outcome.code == 0
                let text = texts(isDone ? "devices.done." + (work.ended ?? "scan") : failure(outcome.code, work.ended ?? "scan"))
                return "<p class=\"\(isDone ? "done" : "problem")\" role=\"status\">\(text)</p>"
            } ?? ""
        let body: HTML = """
            <h1>\(texts("nav.devices"))</h1>
            \(HTML.choose(reported?.isRunning != true, "<p class=\"note\">\(texts("devices.noHub"))</p>"))
            \(outcome)
            <h2>\(texts("devices.own"))</h2>
            \(HTML.choose(cards.isEmpty, "<p>\(texts("devices.none"))</p>", "<ul class=\"cards wide\">\(cards)</ul>"))
            \(try phones(store, names, call))
            <h2>\(texts("devices.near"))</h2>
            \(running)
            \(work.running == nil ? form("scan", [], texts("devices.scan"), nil) : "")
            \(near(work.near, adopted, call))
            """
        // A refresh shows the outcome to users without scripts, too.
        return .page(
            PageLayout(call: call, title: texts("nav.devices"), place: "/page/devices", refresh: work.running == nil ? nil : 2)
                .whole(body))
    }

    /// The text for the exit code of a command (sysexits.h). The command's own messages are for a terminal.
    private static func failure(_ code: Int32, _ action: String) -> String {
        switch code {
        case 69: "devices.failed.unavailable"
        case 75: "devices.failed.again"
        case 77: "devices.failed.permission"
        default: "devices.failed." + action
        }
    }

    /// The names of profiles as words: `sig-heart-rate` becomes `Heart rate`.
    private static func reads(_ profiles: [String], _ texts: PageTexts) -> String {
        profiles.map(texts.profile).joined(separator: ", ")
    }

    /// An address with the name of its radio or port. `nil` for a simulated device, which has none.
    private static func address(_ address: String) -> String? {
        let parts = address.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let name = ["bluetooth": "Bluetooth", "serial": "USB"][parts[0]] else {
            return address.hasPrefix("simulated:") ? nil : address
        }
        return "\(name) \(parts[1])"
    }

    private static func card(
        _ device: AdoptedDevice, _ state: HubDoor.Device?, isRunning: Bool, isShared: Bool, _ names: [String: String],
        _ call: PageCall
    ) -> HTML {
        let texts = call.texts
        var facts: [String] = []
        if let battery = state?.battery { facts.append(texts("devices.battery", PageValues.text(battery))) }
        if let rate = state?.rate, rate > 0 { facts.append(texts("devices.rate", PageValues.text(rate))) }
        if let near = call.site.hubWork.now.near.first(where: { device.address.lowercased().hasSuffix($0.address.lowercased()) })?
            .strength
        {
            facts.append(texts("devices.signal", "\(near)"))
        }
        let silence: HTML =
            state?.silentSince.map { "<p class=\"problem\">\(texts("devices.silent", call.times.text($0)))</p>" } ?? ""
        let low: HTML = (state?.battery).map { $0 < 15 ? "<p class=\"problem\">\(texts("devices.low"))</p>" : "" } ?? ""
        let use: HTML = HTML.choose(isShared, "<p class=\"problem\">\(texts("devices.severalPeople"))</p>")
        let last: HTML = state?.last.map { "<p class=\"from\">\(texts("devices.last")) \(call.times.element($0))</p>" } ?? ""
        let people: [HTML] = names.sorted { $0.value < $1.value }.map { person, name in
            let chosen: HTML = person == device.person ? " selected" : ""
            return "<option value=\"\(person)\"\(chosen)>\(name)</option>"
        }
        let name = device.name.isEmpty ? device.address : texts.device(device.name)
        return """
            <li class="card"><h3>\(name)</h3>
            <p>\(state?.state.map { texts.state($0, of: "devices.state.") } ?? texts(isRunning ? "devices.unknown" : "devices.unasked"))</p>
            \(last)<p class="note">\(facts.joined(separator: " · "))</p>\(silence)\(low)\(use)
            <p class="note">\([Self.address(device.address), reads(device.profiles, texts)].compactMap(\.self).joined(separator: " · "))</p>
            <form method="post" action="/page/devices"><input type="hidden" name="do" value="assign"><input type="hidden" name="address" value="\(device.address)">
            <label>\(texts("devices.whose")) <select name="subject">\(people)</select></label> <button class="quiet" aria-label="\(texts("devices.assignOf", name))">\(texts("devices.assign"))</button></form></li>
            """
    }

    /// The phones that post, with the time of each one's last post.
    private static func phones(_ store: SampleStore, _ names: [String: String], _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let cards: [HTML] = try Phone.all(in: store).map { phone in
            let last: HTML =
                phone.posted.map { "\(texts("devices.posted")) \(call.times.element($0))" } ?? "\(texts("devices.neverPosted"))"
            let people = phone.people.compactMap { names[$0] }.map(texts.person).joined(separator: ", ")
            return """
                <li class="card"><h3>\(phone.client.name)</h3>
                <p class="from">\(last)</p><p class="note">\([phone.app.name, people].filter { !$0.isEmpty }.joined(separator: " · "))</p></li>
                """
        }
        return HTML.choose(!cards.isEmpty, "<h2>\(texts("devices.phones"))</h2>\n<ul class=\"cards wide\">\(cards)</ul>")
    }

    private static func near(_ lines: [NearbyLine], _ adopted: [AdoptedDevice], _ call: PageCall) -> HTML {
        let texts = call.texts
        let known = Set(adopted.map(\.address))
        let rows: [HTML] = lines.filter { !$0.profiles.isEmpty || $0.adopted }.map { line in
            let name = line.name ?? line.address
            let isAdopted = line.adopted || known.contains("bluetooth:" + line.address)
            let actions: HTML
            if isAdopted {
                actions = "<span>\(texts("devices.adopted"))</span>"
            } else {
                let pair: HTML =
                    line.bonded
                    ? "" : form("pair", [("address", line.address)], texts("devices.pair"), texts("devices.pairOf", name))
                let adopt: HTML =
                    line.durable || line.bonded
                    ? form(
                        "adopt", [("address", line.address), ("name", line.name ?? "")] + line.profiles.map { ("profile", $0) },
                        texts("devices.adopt"), texts("devices.adoptOf", name)) : ""
                actions = adopt + pair
            }
            return """
                <tr><th scope="row">\(name)</th><td>\(line.address)</td><td>\(line.strength.map { "\($0) dBm" } ?? "")</td><td>\(reads(line.profiles, texts))</td><td>\(actions)</td></tr>
                """
        }
        guard !rows.isEmpty else { return lines.isEmpty ? "" : "<p>\(texts("devices.nobody"))</p>" }
        return ClientsPage.table(
            "near", texts("devices.heard"),
            ["targets.name", "devices.address", "devices.strength", "devices.profiles", "clients.change"].map { texts($0) }, rows)
    }

    private static func form(_ action: String, _ fields: [(String, String)], _ text: String, _ label: String?) -> HTML {
        let hidden: [HTML] = fields.map { "<input type=\"hidden\" name=\"\($0.0)\" value=\"\($0.1)\">" }
        let label: HTML = label.map { " aria-label=\"\($0)\"" } ?? ""
        return
            "<form method=\"post\" action=\"/page/devices\"><input type=\"hidden\" name=\"do\" value=\"\(action)\">\(hidden)<button\(label)>\(text)</button></form>"
    }

    // MARK: What is done

    @Sendable private static func act(_ call: PageCall) throws -> HTTPResponse {
        guard let hub = call.site.settings.hub else { throw PageProblem(503, "noHub") }
        let action = call.text("do") ?? ""
        if action == "assign" {
            guard let address = call.text("address"), let person = call.text("subject") else {
                throw PageProblem(400, "chooseDevice")
            }
            try call.doing {
                guard try call.hubChanges().assign(device: address, to: person) else { throw PageProblem(400, "chooseDevice") }
            }
            hub.reload()
            return call.see("/page/devices")
        }
        let words = try words(action, call)
        let isBegun = call.site.hubWork.begin(action) {
            let outcome = hub.run(words)
            if outcome.code == 0, action != "scan" { hub.reload() }
            guard action == "scan", outcome.code == 0 else { return (outcome, nil) }
            let lines = outcome.output.split(separator: "\n").prefix(200)
            return (outcome, lines.compactMap { try? JSONDecoder().decode(NearbyLine.self, from: Data($0.utf8)) })
        }
        guard isBegun else { throw PageProblem(409, "busyRadio") }
        return call.see("/page/devices")
    }

    /// The program's arguments. Each field is checked and becomes one argument, and none can be mistaken for an option.
    private static func words(_ action: String, _ call: PageCall) throws -> [String] {
        if action == "scan" { return ["scan", "--seconds", "\(seconds)", "--format", "ndjson"] }
        let address = call.text("address") ?? ""
        let parts = address.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            throw PageProblem(400, "field", "address")
        }
        switch action {
        case "pair": return ["devices", "pair", address, "--seconds", "\(seconds)"]
        case "adopt":
            let profiles = call.list("profile").filter {
                $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" } && !$0.hasPrefix("-")
            }
            let name = call.text("name").map { ["--name=\($0.prefix(100))"] } ?? []
            return ["devices", "adopt", address] + profiles.prefix(8).flatMap { ["--profile", $0] } + name
        default: throw PageProblem(400, "field", "do")
        }
    }
}

/// Runs a closure on its own thread.
func detach(_ body: @escaping @Sendable () -> Void) { DispatchQueue(label: "vitalgate.page").async(execute: body) }
