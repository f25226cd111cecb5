import HealthModel
import SampleStore

/// The state that all sites share.
package final class ServiceCore: Sendable {
    package let settings: ServiceSettings
    package let readers: ReaderPool
    let tally: ReadTally
    package let bell: CommitBell
    package let writer: ClientWriter
    package let disk: DiskShares
    let summarizer: Summarizer
    let alerts: AlertWatch?
    let guesses = GuessCounter()
    /// Looks up tokens, sessions and codes.
    package let authentication: Authentication
    /// The person that the store belongs to.
    package let owner: String

    init(_ settings: ServiceSettings, owner: String) throws {
        (self.settings, self.owner) = (settings, owner)
        let (zone, now) = (settings.zone, settings.now)
        tally = ReadTally(path: settings.store) { zone.date(of: now()) }
        readers = ReaderPool(path: settings.store, tally: tally)
        authentication = Authentication(readers)
        writer = ClientWriter(path: settings.store)
        disk = DiskShares(path: settings.store)
        summarizer = Summarizer(path: settings.store)
        bell = try CommitBell(store: settings.store, following: settings.following)
        alerts = settings.checksAlerts ? AlertWatch(path: settings.store, bell: bell, now: settings.now) : nil
    }

    /// Counts an invalid token or code and returns the delay of its answer.
    package func delayOfWrongToken() -> Duration {
        let recent = guesses.add(at: .now)
        settings.onWrongToken(guesses.count)
        return settings.delayOfGuess(recent)
    }
}
