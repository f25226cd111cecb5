import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The page where a person orders and hides the cards of Today.
enum CardsPage {
    static let routes = [
        PageRoute(method: "GET", path: "cards", answer: page),
        PageRoute(method: "POST", path: "cards", body: 4096, answer: change),
    ]

    private struct Section {
        let group: HealthGroup
        let cards: [(key: String, name: String)]
    }

    /// The person's groups and cards in their order, including the hidden ones.
    private static func sections(_ layout: CardLayout, _ call: PageCall) throws -> [Section] {
        let reader = TodayReader(try call.reader().store, zone: call.zone, priority: call.core.settings.priority)
        let types = try reader.list(of: call.person().person, at: call.now)
        return layout.groups.compactMap { group in
            var cards = types.filter { HealthGroup(of: $0) == group }.map { (key: $0.id, name: call.values.name(of: $0)) }
            if group == .activity, !cards.isEmpty { cards.insert((CardLayout.rings, call.texts("rings.title")), at: 0) }
            return cards.isEmpty ? nil : Section(group: group, cards: layout.sorted(cards) { $0.key })
        }
    }

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let texts = call.texts
        let layout = try CardLayout(call)
        let sections = try sections(layout, call)
        let groups: [HTML] = sections.enumerated().map { index, section in
            let (key, name) = (CardLayout.key(of: section.group), texts("group." + section.group.rawValue))
            let cards: [HTML] = section.cards.enumerated().map { place, card in
                let isHidden = layout.isHidden(card.key)
                let mark: HTML = isHidden ? " <span class=\"note\">(\(texts("cards.isHidden")))</span>" : ""
                let buttons = moves(card.key, card.name, place, section.cards.count, call)
                let toggle = button(isHidden ? "show" : "hide", card.key, card.name, call)
                return "<li><span>\(card.name)\(mark)</span>\(form(card.key, buttons + toggle))</li>"
            }
            return """
                <li><div class="arranged"><h2>\(name)</h2>\(form(key, moves(key, name, index, sections.count, call)))</div>
                <ol class="arrange">\(cards)</ol></li>

                """
        }
        let reset = "<form method=\"post\" action=\"/page/cards\"><button class=\"quiet\" name=\"do\" value=\"reset\">" as HTML
        let body: HTML = """
            <h1>\(texts("cards.title"))</h1>
            <p>\(texts(sections.isEmpty ? "today.nothing" : "cards.how"))</p>
            \(HTML.choose(!groups.isEmpty, "<ol class=\"arrange groups\">\(groups)</ol>"))
            \(HTML.choose(layout.layout != .standard, "\(reset)\(texts("cards.reset"))</button></form>"))
            <p><a href="/page/">\(texts("problem.back"))</a></p>
            """
        return .page(PageLayout(call: call, title: texts("cards.title")).whole(body))
    }

    private static func form(_ key: String, _ buttons: HTML) -> HTML {
        "<form class=\"inline\" method=\"post\" action=\"/page/cards\">\(FormFields.hidden([("key", key)]))\(buttons)</form>"
    }

    /// The buttons that move an item. There is none beyond the ends of its list.
    private static func moves(_ key: String, _ name: String, _ place: Int, _ count: Int, _ call: PageCall) -> HTML {
        // At the end of the list, the other button gets the focus.
        let last = call.text("key") == key ? call.text("did") : nil
        let focus = last == "up" && place == 0 ? "down" : last == "down" && place == count - 1 ? "up" : last
        return button("up", key, name, isOff: place == 0, focus: focus, call)
            + button("down", key, name, isOff: place == count - 1, focus: focus, call)
    }

    /// - Parameter focus: The action whose button gets the focus, so that a key can be pressed repeatedly.
    private static func button(
        _ action: String, _ key: String, _ name: String, isOff: Bool = false, focus: String? = nil, _ call: PageCall
    ) -> HTML {
        let label = call.texts("cards." + action)
        let isToggled = ["show", "hide"].contains(action) && call.text("key") == key
        let hasFocus = focus == action || (isToggled && ["show", "hide"].contains(call.text("did") ?? ""))
        // Long words would push a card's name into a line of its own on a phone.
        let sign = ["up": "▲", "down": "▼"][action] ?? label
        let state: HTML = (isOff ? " disabled" : "") + (hasFocus && !isOff ? " autofocus" : "")
        return
            "<button class=\"quiet\" name=\"do\" value=\"\(action)\" aria-label=\"\(label): \(name)\"\(state)>\(sign)</button> "
    }

    @Sendable private static func change(_ call: PageCall) throws -> HTTPResponse {
        guard let action = call.text("do") else { throw wrongAction }
        guard action != "reset" else {
            try call.doing { try call.changes().save(TodayLayout.standard) }
            return call.see("/page/cards")
        }
        let layout = try CardLayout(call)
        let sections = try sections(layout, call)
        let lists = [sections.map { CardLayout.key(of: $0.group) }] + sections.map { $0.cards.map(\.key) }
        guard let key = call.text("key"), lists.contains(where: { $0.contains(key) }) else {
            throw PageProblem(404, "card")
        }
        var changed = layout.layout
        switch action {
        case "up", "down": changed = layout.moved(key, up: action == "up", in: lists)
        case "hide" where !lists[0].contains(key): changed.hidden.insert(key)
        case "show": changed.hidden.remove(key)
        default: throw wrongAction
        }
        try call.doing { try call.changes().save(changed) }
        return call.see("/page/cards?key=\(key)&did=\(action)")
    }

    private static let wrongAction = PageProblem(400, "field", "do")
}
