import HealthModel

/// The checks of sample bodies in `store check --deep`. Each body must decode as its sample's kind, match its digest,
/// and contain compressed content that can be unpacked. The samples that it refers to should be in the store.
///
/// The check keeps one body in memory at a time, and 64 KiB of its content.
final class BodyCheck {
    /// The defects that were found.
    private(set) var problems: [String] = []
    /// Findings that need no fix but may be useful.
    private(set) var notes: [String] = []

    private let connection: Connection
    /// The bodies that were already verified for a kind. Several samples can share one body.
    private var verified: Set<Verified> = []
    private var counts: [Fault: Int] = [:]
    private var missing: [SampleKind: Int] = [:]

    private struct Verified: Hashable {
        var body: Int64
        var kind: SampleKind
    }

    /// A defect in the body of a sample.
    private struct Fault: Hashable {
        var type: String
        var words: String
    }

    init(connection: Connection) { self.connection = connection }

    /// Verifies all bodies.
    func run() throws(StoreError) {
        for (table, remembered) in [("sample", ""), ("deleted", " AND NOT forgotten"), ("witness", ""), ("quarantine", "")] {
            try verify(table, remembered)
        }
        for (fault, count) in counts.sorted(by: { ($0.key.type, $0.key.words) < ($1.key.type, $1.key.words) }) {
            problems.append("\(fault.type): \(count) \(count == 1 ? "sample" : "samples") \(fault.words)")
        }
        for (kind, count) in missing.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let kindNames = kind == .workoutRoute ? "workouts" : kind == .workout ? "routes" : "samples"
            notes.append("\(count) \(kindNames) referenced by a \(kind.name) are not in the store")
        }
        try unused()
        let lost =
            try connection.integer(
                "SELECT count(*) FROM context WHERE body IS NOT NULL AND body NOT IN (SELECT id FROM body)") ?? 0
        if lost > 0 { problems.append("\(lost) contexts whose body is missing") }
    }

    private static let objects = "series.kind NOT IN (\(SampleKind.quantity.rawValue), \(SampleKind.category.rawValue))"

    private func verify(_ table: String, _ remembered: String) throws(StoreError) {
        let statement = try Statement(
            connection,
            """
            SELECT series.type, series.kind, context.body, body.digest, body.octets
            FROM \(table) AS s JOIN series ON series.id = s.series JOIN context ON context.id = s.context
                LEFT JOIN body ON body.id = context.body
            WHERE (\(Self.objects) OR context.body IS NOT NULL)\(remembered)
            """)
        while try statement.step() {
            let type = statement.text(0)
            guard let kind = SampleKind(rawValue: statement.integer(1)) else { continue }
            func note(_ words: String) { counts[Fault(type: type, words: words), default: 0] += 1 }
            let hasBody = !statement.isNull(2)
            guard kind != .quantity, kind != .category else {
                note("with a body, although the kind has none")
                continue
            }
            guard hasBody, !statement.isNull(4) else {
                // A context that refers to a missing body is counted separately.
                if !hasBody { note("without a body") }
                continue
            }
            let key = Verified(body: statement.integer(2), kind: kind)
            guard !verified.contains(key) else { continue }
            if verified.count > 100_000 { verified.removeAll(keepingCapacity: true) }
            verified.insert(key)
            let body = SampleBody(bytes: Array(statement.blob(4)))
            if Array(statement.blob(3)) != body.digest { note("whose body does not match its digest") }
            let reading = BodyReading(body, kind)
            for fault in reading.faults { note(fault) }
            for uuid in reading.named where try !exists(uuid) { missing[kind, default: 0] += 1 }
        }
    }

    /// Whether a UUID belongs to a sample that is live, deleted, kept as a duplicate, or in quarantine.
    private func exists(_ text: String) throws(StoreError) -> Bool {
        guard let uuid = SampleIdentity(text) else { return false }
        if try !connection.samples.keys(of: uuid).isEmpty { return true }
        if try connection.quarantine.contains(uuid) { return true }
        return try connection.duplicates.contains(uuid)
    }

    /// Notes the bodies that no sample refers to. Undoing an import permanently forgets its rows but keeps their
    /// bodies, and a reading that arrives again has the same body.
    private func unused() throws(StoreError) {
        let tables = ["sample", "deleted WHERE NOT forgotten", "witness", "quarantine"]
        let used = tables.map { "SELECT context FROM \($0)" }.joined(separator: " UNION ")
        let statement = try Statement(
            connection,
            """
            SELECT count(*), coalesce(sum(length(octets)), 0) FROM body WHERE id NOT IN
                (SELECT body FROM context WHERE body IS NOT NULL AND id IN (\(used)))
            """)
        guard try statement.step(), statement.integer(0) > 0 else { return }
        let count = statement.integer(0)
        notes.append("\(count) \(count == 1 ? "body" : "bodies") without a sample, \(statement.integer(1)) bytes")
    }
}

/// The result of checking the body of a sample of one kind.
private struct BodyReading {
    /// The defects of the body.
    private(set) var faults: [String] = []
    /// The UUIDs that the body refers to.
    private(set) var named: [String] = []

    private static let unreadable = "whose body cannot be read"

    init(_ body: SampleBody, _ kind: SampleKind) {
        var points: Points?
        do {
            let object = try body.object(of: kind)
            (points, named) = (object?.packedPoints, object?.references ?? [])
        } catch {
            faults.append(Self.unreadable)
        }
        check(body, points)
    }

    /// Checks that the compressed content after the JSON can be unpacked and has the declared number of points.
    private mutating func check(_ body: SampleBody, _ points: Points?) {
        let hasMore = body.isLongerThanJSON
        guard let content = body.content else {
            if hasMore { faults.append("whose content is damaged") }
            if let points, points.count > 0, !hasMore { faults.append("whose points are missing") }
            return
        }
        do throws(ContentError) {
            if let points {
                var reader = try PointsReader(points, content)
                while try reader.next() != nil {}
            } else {
                var reader = try ContentReader(content)
                while try reader.next() != nil {}
            }
        } catch {
            faults.append(points == nil ? "whose content is damaged" : "whose points are damaged")
        }
    }
}
