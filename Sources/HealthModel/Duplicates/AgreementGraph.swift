/// The readings of a ``ReportGrouping`` and which of them agree. They are numbered, the most precise one first.
struct AgreementGraph {
    private struct Edge {
        var agreement: Agreement
        var other: Int
    }

    private struct Pair: Hashable {
        var node: Int
        var first: Int
    }

    private struct Slot: Hashable {
        var first: Int
        var path: ReportPath
    }

    private struct Linked {
        var agreement: Agreement
        var (one, other): (Int, Int)
        var rule: DuplicateRule
    }

    /// The more precise readings that each one agrees with.
    private var edges: [[Edge]]
    private var linked: [Linked] = []

    init(count: Int) { edges = Array(repeating: [], count: count) }

    /// Adds two readings that may be one measurement.
    mutating func add(_ agreement: Agreement, _ one: Int, _ other: Int) {
        edges[max(one, other)].append(Edge(agreement: agreement, other: min(one, other)))
    }

    /// Adds two readings of different devices that agree.
    mutating func addLink(_ agreement: Agreement, _ one: Int, _ other: Int, by rule: DuplicateRule) {
        linked.append(Linked(agreement: agreement, one: min(one, other), other: max(one, other), rule: rule))
    }

    /// Returns the representative of each reading, or `nil` if it represents itself.
    func representatives(_ nodes: [(path: ReportPath, counts: Bool)]) -> [Int?] {
        let choices = edges.map { $0.sorted { ($0.agreement, $0.other) < ($1.agreement, $1.other) } }
        var rejected: Set<Pair> = []
        while true {
            let first = proposals(choices, without: rejected)
            let before = rejected.count
            for (slot, members) in Self.slots(first, nodes) where members.count > 1 {
                let best = members.min { precedes($0, $1, slot.first, nodes, choices) }
                for node in members where node != best { rejected.insert(Pair(node: node, first: slot.first)) }
            }
            if rejected.count == before { return filled(first, choices, nodes) }
        }
    }

    /// The choice of each reading among the representatives that have not rejected it.
    private func proposals(_ choices: [[Edge]], without rejected: Set<Pair>) -> [Int?] {
        var first: [Int?] = Array(repeating: nil, count: choices.count)
        for node in choices.indices {
            first[node] =
                choices[node].first { first[$0.other] == nil && !rejected.contains(Pair(node: node, first: $0.other)) }?.other
        }
        return first
    }

    private static func slots(_ first: [Int?], _ nodes: [(path: ReportPath, counts: Bool)]) -> [Slot: [Int]] {
        var slots: [Slot: [Int]] = [:]
        for node in nodes.indices {
            if let first = first[node] { slots[Slot(first: first, path: nodes[node].path), default: []].append(node) }
        }
        return slots
    }

    /// Whether a representative prefers one of two readings of a path.
    private func precedes(
        _ one: Int, _ other: Int, _ first: Int, _ nodes: [(path: ReportPath, counts: Bool)], _ choices: [[Edge]]
    ) -> Bool {
        if nodes[one].counts != nodes[other].counts { return nodes[one].counts }
        guard let agreement = choices[one].first(where: { $0.other == first })?.agreement,
            let another = choices[other].first(where: { $0.other == first })?.agreement
        else { return one < other }
        return (agreement, one) < (another, other)
    }

    /// Lets readings without others join a representative that rejected them for a reading that has left it since.
    private func filled(
        _ first: [Int?], _ choices: [[Edge]], _ nodes: [(path: ReportPath, counts: Bool)]
    ) -> [Int?] {
        var first = first
        var slots = Set(Self.slots(first, nodes).keys)
        let represented = Set(first.compactMap { $0 })
        for node in nodes.indices where first[node] == nil && !represented.contains(node) {
            let path = nodes[node].path
            let free = choices[node].first { first[$0.other] == nil && !slots.contains(Slot(first: $0.other, path: path)) }
            guard let free else { continue }
            first[node] = free.other
            slots.insert(Slot(first: free.other, path: path))
        }
        return first
    }

    /// Returns the links between representatives, each with the most alike one of another path.
    func links(_ paths: [ReportPath], among representatives: [Int]) -> [(one: Int, other: Int, rule: DuplicateRule)] {
        let known = Set(representatives)
        let sorted = linked.filter { known.contains($0.one) && known.contains($0.other) }.sorted {
            ($0.agreement, $0.one, $0.other) < ($1.agreement, $1.one, $1.other)
        }
        var slots: Set<Slot> = []
        var found: [(one: Int, other: Int, rule: DuplicateRule)] = []
        for link in sorted {
            let isOwn = slots.insert(Slot(first: link.one, path: paths[link.other])).inserted
            let isOthers = slots.insert(Slot(first: link.other, path: paths[link.one])).inserted
            if isOwn || isOthers { found.append((link.one, link.other, link.rule)) }
        }
        return found.sorted { ($0.one, $0.other) < ($1.one, $1.other) }
    }
}
