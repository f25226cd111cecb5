import Testing

/// A model of the protocol between a hub, collectors, and a database. Every order of its steps is tried, up to a number of requests.
///
/// The hub has three blocks: the first adds a sample, the second deletes it, the third adds another one. It can send a block ahead, while it waits
/// for the receipt of the one before. Requests and replies can arrive in any order, much later, or never. The hub gives up waiting at any time, and can be killed at any time. A collector carries out one
/// request, or two deliveries in one transaction.
@Suite struct ProtocolModelTests {
    /// A request that was sent. It stays until a collector carries it out or it is lost.
    private enum Request: Hashable {
        case find(id: Int)
        case claim(id: Int, count: Int)
        case deliver(id: Int, block: Int, count: Int, after: Int? = nil)
    }

    private enum Reply: Hashable {
        case found(id: Int, count: Int?)
        case receipt(id: Int)
        case failure(id: Int)

        var id: Int {
            switch self {
            case .found(let id, _), .receipt(let id), .failure(let id): id
            }
        }
    }

    /// The step of the protocol that the hub waits for.
    private enum Phase: Hashable {
        case idle
        case matched
        case finding(id: Int)
        case claiming(id: Int, count: Int)
        case delivering(id: Int, count: Int)

        var id: Int? {
            switch self {
            case .idle, .matched: nil
            case .finding(let id), .claiming(let id, _), .delivering(let id, _): id
            }
        }
    }

    private struct State: Hashable {
        // The hub. The cursor and the count survive a kill.
        var cursor = 0
        var count = 0
        var hasClaimed = false
        var phase = Phase.idle
        /// The request that was sent ahead.
        var ahead: Int?
        var sent = 0
        // On the way, in no order.
        var requests: Set<Request> = []
        var replies: Set<Reply> = []
        // The database: the mark and the live samples.
        var mark: Int?
        var anchor = 0
        var rows: Set<Int> = []
    }

    /// The rules that can be switched off, to see that the model finds the faults they prevent.
    private struct Rules: OptionSet {
        let rawValue: Int
        static let deliveriesFollowTheMark = Rules(rawValue: 1)
        static let claimsFollowTheMark = Rules(rawValue: 2)
        static let receiptsFollowTheCommit = Rules(rawValue: 4)
        static let all: Rules = [.deliveriesFollowTheMark, .claimsFollowTheMark, .receiptsFollowTheCommit]
    }

    private static let blocks = 3
    /// The samples that are live after a number of blocks.
    private static let live: [Set<Int>] = [[], [1], [], [2]]

    private static func apply(_ block: Int, to rows: inout Set<Int>) {
        switch block {
        case 0: rows.insert(1)
        case 1: rows.remove(1)
        default: rows.insert(2)
        }
    }

    /// Whether the hub would stop until a person acts: the mark is older than the last receipt.
    private static func stops(_ state: State, _ found: Int?) -> Bool { state.hasClaimed && (found ?? 0) < state.count }

    /// The states after one step of the hub.
    private static func hubSteps(_ state: State, maximum: Int) -> [State] {
        var next: [State] = []
        if state.sent < maximum {
            var new = state
            new.sent += 1
            let id = new.sent
            switch state.phase {
            case .idle:
                new.requests.insert(.find(id: id))
                new.phase = .finding(id: id)
                next.append(new)
            case .matched where state.cursor < blocks:
                let count = state.count + 1
                new.requests.insert(.deliver(id: id, block: state.cursor, count: count))
                new.phase = .delivering(id: id, count: count)
                next.append(new)
            case .delivering(_, let count) where state.ahead == nil && state.cursor + 1 < blocks:
                let block = state.cursor + 1
                new.requests.insert(.deliver(id: id, block: block, count: count + 1, after: block))
                new.ahead = id
                next.append(new)
            default: break
            }
        }
        // Killed, or tired of waiting.
        if state.phase != .idle {
            var new = state
            (new.phase, new.ahead) = (.idle, nil)
            next.append(new)
        }
        return next
    }

    /// The states after a collector has carried out a request. Its reply may get lost.
    private static func collectorSteps(_ state: State, _ rules: Rules) -> [State] {
        state.requests.flatMap { request in
            var new = state
            new.requests.remove(request)
            let lost = new
            let reply = carryOut(request, in: &new, rules)
            let unanswered = new
            new.replies.insert(reply)
            return [lost, unanswered, new]
        }
    }

    /// Changes the database as a request asks, and returns the reply.
    private static func carryOut(_ request: Request, in state: inout State, _ rules: Rules) -> Reply {
        switch request {
        case .find(let id): return .found(id: id, count: state.mark)
        case .claim(let id, let count):
            if let mark = state.mark, mark != count - 1, rules.contains(.claimsFollowTheMark) { return .failure(id: id) }
            state.mark = count
            return .receipt(id: id)
        case .deliver(let id, let block, let count, let after):
            let isNext = state.mark == count - 1 && (after == nil || after == state.anchor)
            if !isNext, rules.contains(.deliveriesFollowTheMark) { return .failure(id: id) }
            (state.mark, state.anchor) = (count, block + 1)
            apply(block, to: &state.rows)
            return .receipt(id: id)
        }
    }

    /// The states after a collector has written two deliveries in one transaction. Each of the replies may get lost.
    ///
    /// If one fails, both are rolled back and repeated alone, which ``collectorSteps(_:_:)`` does.
    private static func groupSteps(_ state: State, _ rules: Rules) -> [State] {
        let deliveries = state.requests.filter { if case .deliver = $0 { true } else { false } }
        return deliveries.flatMap { first in
            deliveries.filter { $0 != first }.flatMap { second in
                var new = state
                new.requests.subtract([first, second])
                let replies = [first, second].map { carryOut($0, in: &new, rules) }
                if case .failure = replies[0] { return [State]() }
                if case .failure = replies[1] {
                    guard !rules.contains(.receiptsFollowTheCommit) else { return [] }
                    // The collector is killed before it repeats the first one, which has its receipt.
                    var killed = state
                    killed.requests.remove(first)
                    killed.replies.insert(replies[0])
                    return [killed]
                }
                return [[], [replies[0]], [replies[1]], replies].map { (sent: [Reply]) in
                    var after = new
                    after.replies.formUnion(sent)
                    return after
                }
            }
        }
    }

    /// The states after a reply has reached the hub. A reply to a request that it no longer waits for is dropped.
    private static func replySteps(_ state: State, maximum: Int) -> [State] {
        state.replies.compactMap { reply in
            // The hub reads it after the one before.
            guard reply.id != state.ahead else { return nil }
            var new = state
            new.replies.remove(reply)
            guard reply.id == state.phase.id else { return new }
            switch (reply, state.phase) {
            case (.found(_, let count), _):
                new.count = count ?? new.count
                if state.hasClaimed, count != nil {
                    new.phase = .matched
                } else {
                    guard state.sent < maximum else { return nil }
                    new.sent += 1
                    new.requests.insert(.claim(id: new.sent, count: new.count + 1))
                    new.phase = .claiming(id: new.sent, count: new.count + 1)
                }
            case (.receipt, .claiming(_, let count)): (new.count, new.hasClaimed, new.phase) = (count, true, .matched)
            case (.receipt, .delivering(_, let count)):
                new.count = count
                (new.phase, new.ahead) = (state.ahead.map { .delivering(id: $0, count: count + 1) } ?? .matched, nil)
                new.cursor += 1
            default: (new.phase, new.ahead) = (.idle, nil)
            }
            return new
        }
    }

    /// A fault in a state, or `nil`.
    private static func fault(_ state: State) -> String? {
        for case .found(let id, let count) in state.replies where state.phase == .finding(id: id) && stops(state, count) {
            return "the hub stops although nothing was restored"
        }
        // All blocks have a receipt, so the database must have them, whatever is still on its way.
        if state.cursor == blocks, state.rows != live[blocks] { return "the rows are not the hub's samples" }
        return nil
    }

    /// Tries every order of steps, and returns the first fault.
    private static func search(_ rules: Rules, maximum: Int) -> (fault: String?, states: Int, finished: Int) {
        var seen: Set<State> = [State()]
        var open = [State()]
        var finished = 0
        while let state = open.popLast() {
            if let fault = fault(state) { return (fault, seen.count, finished) }
            if state.cursor == blocks, state.requests.isEmpty { finished += 1 }
            let next =
                hubSteps(state, maximum: maximum) + collectorSteps(state, rules) + groupSteps(state, rules)
                + replySteps(state, maximum: maximum)
            for state in next where seen.insert(state).inserted { open.append(state) }
        }
        return (nil, seen.count, finished)
    }

    @Test func anyOrderOfStepsKeepsSampleState() {
        let result = Self.search(.all, maximum: 8)
        #expect(result.fault == nil)
        #expect(result.finished > 0)
        #expect(result.states > 10_000)
    }

    /// A late copy of the first block would bring a deleted sample back.
    @Test func deliveriesMustFollowTheMark() {
        #expect(Self.search([.claimsFollowTheMark, .receiptsFollowTheCommit], maximum: 8).fault != nil)
    }

    /// A late claim would set the mark back, and the hub would take the database for a restored one.
    @Test func claimsMustFollowTheMark() {
        #expect(Self.search([.deliveriesFollowTheMark, .receiptsFollowTheCommit], maximum: 8).fault != nil)
    }

    /// A receipt before the commit would move the cursor although the transaction is rolled back.
    @Test func receiptsMustFollowTheCommit() {
        #expect(Self.search([.deliveriesFollowTheMark, .claimsFollowTheMark], maximum: 8).fault != nil)
    }
}
