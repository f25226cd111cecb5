import HealthModel
import SampleStore

/// The ledger's accounts of what is live: one a day of the calendar in the hub's zone, which a hub that is started again goes on with.
final class DailyLedger {
    private struct Day {
        var number: Int
        var ingest: Ingest
        /// Readings that an earlier run of the hub left in its account.
        var before: Int
        var notes: [String]
    }

    /// Days begin at its midnights, from the next on.
    var zone: TimeZoneRules
    /// Readings of the accounts that this hub has closed.
    private(set) var accounted = 0
    private let store: SampleStore
    private let now: @Sendable () -> Instant
    /// Whether one ingest takes a recording, whose days are long gone.
    private let isReplay: Bool
    private var day: Day?
    private var notes: [String] = []

    /// Of a day.
    private static let maximumNotes = 100

    /// - Parameter replaying: takes everything, whatever day it is.
    init(store: SampleStore, now: @escaping @Sendable () -> Instant, zone: TimeZoneRules, replaying: Ingest? = nil) {
        isReplay = replaying != nil
        day = replaying.map { Day(number: 0, ingest: $0, before: 0, notes: []) }
        self.store = store
        self.now = now
        self.zone = zone
    }

    /// The ingest of today: the one at hand, the one that an earlier run of the hub began, or a new one.
    func today() throws -> Ingest {
        if isReplay, let day { return day.ingest }
        let now = now()
        let days = CalendarIntervals(.day, zone: zone)
        let today = days.index(of: now)
        if let day, day.number == today { return day.ingest }
        try close()
        let owner = ProcessIdentity.current()
        let range = days.start(of: today).microseconds..<days.start(of: today + 1).microseconds
        let resumed = try store.resumeIngest(kind: .live, begunWithin: range, owner: owner)
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

    /// Whether there are any that are not written yet.
    var hasNotes: Bool { !notes.isEmpty }

    /// Remembers something that was assumed or noticed, up to a number of them.
    func note(_ text: String) {
        if notes.count + (day?.notes.count ?? 0) < Self.maximumNotes { notes.append(text) }
    }

    /// Writes them into the account of today.
    func writeNotes() throws {
        guard hasNotes else { return }
        let ingest = try today()
        let all = (day?.notes ?? []) + notes
        try ingest.note(all)
        day?.notes = all
        notes.removeAll()
    }
}
