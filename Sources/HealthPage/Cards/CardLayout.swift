import HealthAnswers
import HealthModel
import SampleStore

/// The order of Today's groups and cards for a person, and the hidden cards.
///
/// A card's key is the id of its type, or ``rings``.
struct CardLayout {
    /// The key of the card with the activity rings.
    static let rings = "rings"

    private(set) var layout: TodayLayout
    private let ranks: [String: Int]

    init(_ layout: TodayLayout) {
        self.layout = layout
        ranks = Dictionary(layout.order.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// The person's arrangement.
    init(_ call: PageCall) throws { self.init(try call.records().todayLayout()) }

    static func key(of group: HealthGroup) -> String { "group.\(group.rawValue)" }

    /// All groups in the person's order.
    var groups: [HealthGroup] { sorted(HealthGroup.allCases) { Self.key(of: $0) } }

    func isHidden(_ key: String) -> Bool { layout.hidden.contains(key) }

    /// Items in the person's order. Items that are not in it follow in their own order.
    func sorted<Item>(_ items: [Item], by key: (Item) -> String) -> [Item] {
        items.enumerated().map { (rank: ranks[key($1)] ?? .max, index: $0, item: $1) }
            .sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map(\.item)
    }

    /// The arrangement with an item moved one place among its neighbors.
    ///
    /// - Parameters:
    ///   - key: The item.
    ///   - lists: The displayed lists of keys: the groups, and the cards of each group.
    func moved(_ key: String, up isUp: Bool, in lists: [[String]]) -> TodayLayout {
        var lists = lists
        for (number, list) in lists.enumerated() {
            guard let index = list.firstIndex(of: key) else { continue }
            let other = isUp ? index - 1 : index + 1
            if list.indices.contains(other) { lists[number].swapAt(index, other) }
        }
        let shown = lists.flatMap { $0 }
        // Cards without readings now keep their places among each other.
        let others = layout.order.filter { !Set(shown).contains($0) }
        return TodayLayout(order: shown + others, hidden: layout.hidden)
    }
}
