import HealthModel

/// A person's arrangement of the cards on the page Today.
public struct TodayLayout: Hashable, Sendable {
    /// The keys of groups and cards in their order. Others follow them.
    public var order: [String]
    /// The keys of the hidden cards.
    public var hidden: Set<String>

    /// Creates an arrangement.
    public init(order: [String] = [], hidden: Set<String> = []) { (self.order, self.hidden) = (order, hidden) }

    /// The arrangement of a person who has not changed anything.
    public static let standard = TodayLayout()
}

extension SampleStore.People {
    /// The maximum number of keys in each part of an arrangement, and the maximum length of a key in bytes.
    public static let maximumTodayLayout = (keys: 1000, key: 100)

    /// The setting with a person's arrangement: the order, an empty line, and the hidden cards, with a key in each line.
    static func todayLayoutSetting(of person: String) -> String { "today/\(person)" }

    /// Returns a person's arrangement.
    public func todayLayout(of person: String) throws(StoreError) -> TodayLayout {
        guard let text = try connection.settings.text(Self.todayLayoutSetting(of: person)) else { return .standard }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let end = lines.firstIndex(of: "") ?? lines.endIndex
        return TodayLayout(order: Array(lines[..<end]), hidden: Set(lines[end...].filter { !$0.isEmpty }))
    }

    /// Sets a person's arrangement.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if there are too many keys, or a key is too long, empty, or repeated.
    public func save(_ layout: TodayLayout, of person: String) throws {
        let (maximum, maximumLength) = Self.maximumTodayLayout
        let keys = layout.order + layout.hidden
        guard max(layout.order.count, layout.hidden.count) <= maximum, Set(layout.order).count == layout.order.count,
            keys.allSatisfy({ (1...maximumLength).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
        else {
            throw StoreError(.invalid, "an arrangement has at most \(maximum) keys, each at most \(maximumLength) bytes in ASCII")
        }
        let setting = Self.todayLayoutSetting(of: person)
        try connection.transaction {
            guard layout != .standard else { return try connection.settings.remove(setting) }
            let lines = layout.order + [""] + layout.hidden.sorted()
            try connection.settings.set(setting, to: .text(lines.joined(separator: "\n")))
        }
    }
}
