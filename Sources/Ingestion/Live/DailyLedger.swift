import HealthModel
import SampleStore

/// The ledger accounts of live readings: one for each calendar day in the hub's zone. A restarted hub continues the day's
/// account.
final class DailyLedger {
    private struct Day {
        var number: Int
        var ingest: Ingest
        /// The number of readings that an earlier run of the hub left in the account.
        var before: Int
        var notes: [String]
    }

    /// The zone whose midnights start the days. A change applies from the next day on.
    var zone: TimeZoneRules
    /// The number of readings in the accounts that this hub has closed.
    private(set) var accounted = 0
    private let store: SampleStore
    private let now: @Sendable () -> Instant
    /// Whether one ingest takes a whole recording, whose days are over.
    private let isReplay: Bool
    private var day: Day?
    private var notes: [String] = []

    /// The maximum number of notes for a day.
    private static let maximumNotes = 100

    /// - Parameter replaying: an ingest that takes everything, whatever the day.
    init(store: SampleStore, now: @escaping @Sendable () -> Instant, zone: TimeZoneRules, replaying: Ingest? = nil) {
        isReplay = replaying != nil
        day = replaying.map { Day(number: 0, ingest: $0, before: 0, notes: []) }
        self.store = store
        self.now = now
        self.zone = zone
    }

    /// Returns today's ingest: the current one, one from an earlier run of the hub, or a new one.
    func today() throws -> Ingest {
        if isReplay, let day { return day.ingest }
        let now = now()
        let days = CalendarIntervals(.day, zone: zone)
        let today = days.index(of: now)
        if let day, day.number == today { return day.ingest }
        try close()
        let owner = ProcessIdentity.current()
        let range = days.start(of: today).microseconds..<days.start(of: today + 1).microseconds
        let resumed = try store.ledger.resume(kind: .live, begunWithin: range, owner: owner)
        let ingest =
            try resumed?.ingest
            ?? store.beginIngest(
                IngestDescription(kind: .live, zone: zone.identifier, received: now.microseconds, owner: owner))
        day = Day(number: today, ingest: ingest, before: resumed?.account.read ?? 0, notes: resumed?.account.notes ?? [])
        return ingest
    }

    /// Closes the account of the day, if there is one.
    func close(state: String = "done") throws {
        guard let day else { return }
        let account = try day.ingest.finish(at: now().microseconds, state: state)
        accounted += account.read - day.before + day.ingest.repeated
        self.day = nil
    }

    // MARK: Notes

    /// Whether there are notes that are not written yet.
    var hasNotes: Bool { !notes.isEmpty }

    /// Adds a note about an assumption or observation, up to the maximum.
    func note(_ text: String) {
        if notes.count + (day?.notes.count ?? 0) < Self.maximumNotes { notes.append(text) }
    }

    /// Writes the notes into today's account.
    func writeNotes() throws {
        guard hasNotes else { return }
        let ingest = try today()
        let all = (day?.notes ?? []) + notes
        try ingest.note(all)
        day?.notes = all
        notes.removeAll()
    }
}
