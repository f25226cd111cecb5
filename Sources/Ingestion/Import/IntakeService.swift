import FileSource
import HealthModel
import Pipeline
import SampleStore

/// Imports what apps on phones post. A post is a file: `import` of the same bytes stores the same samples.
///
///     let intake = IntakeService(store: path, zone: berlin, now: now)
///     let account = try intake.run("health-auto-export", file: path, grouping: "Days", by: client)
///
/// A post that is cut or malformed stores nothing. Everything that is not refused is durable when ``run(_:file:grouping:by:)`` returns.
package struct IntakeService: Sendable {
    /// The reason why nothing of a post was stored.
    package enum Failure: Error, Hashable, Sendable {
        /// The format is not known.
        case unknownKind
        case malformed(String)
        /// The client may write no type.
        case notGranted
        case notAPhone
        /// The client may write for several people, and the post names none.
        case severalPeople
        /// The client's grants changed during the import. Earlier samples remain stored, and the post can be sent again.
        case grantsChanged
    }

    private let store: String
    private let zone: TimeZoneRules
    private let now: @Sendable () -> Instant

    /// - Parameters:
    ///   - store: the path of the store.
    ///   - zone: the person's zone, for the ends of days.
    package init(store: String, zone: TimeZoneRules, now: @escaping @Sendable () -> Instant) {
        (self.store, self.zone, self.now) = (store, zone, now)
    }

    /// Imports a post.
    ///
    /// - Parameter grouping: the app's header with the length of the periods, if there is one.
    /// - Returns: the account of this post.
    /// - Throws: ``Failure``, ``StoreError``.
    package func run(_ kind: String, file path: String, grouping: String?, by client: Client) throws -> IngestAccount {
        guard let app = PhoneApp(id: kind) else { throw Failure.unknownKind }
        // A value of a period replaces that of any phone of the person. Other clients change only what they have saved themselves.
        guard PhoneApp(id: client.app) != nil else { throw Failure.notAPhone }
        let store = try SampleStore(path: store, access: .write)
        let granted = try Self.writable(client, store)
        let person = try Self.person(of: granted, store)
        let received = now()
        let registry = OriginRegistry(person: person, aliases: try store.devices.aliases())
        let circumstances = PhoneApp.Circumstances(
            registry: registry, received: received, grouping: grouping.flatMap { PeriodGrouping(header: $0) }, zone: zone)
        let post: PhoneApp.Post
        do {
            let file = try InputFile(path: path)
            guard file.size > 0 else { throw Failure.malformed("the body is empty") }
            post = app.open(file, circumstances)
            try post.survey()
        } catch let error as SourceError where error.kind == .malformed {
            throw Failure.malformed("\(error)")
        }
        let days = CalendarIntervals(.day, zone: zone)
        let today = days.index(of: received)
        let sender = ImportSender(
            name: client.ledgerName, day: days.start(of: today).microseconds..<days.start(of: today + 1).microseconds,
            client: client, types: Set(granted.filter { $0.person == person }.map(\.type)),
            confirm: {
                guard try Set(Self.writable(client, store)) == Set(granted) else { throw Failure.grantsChanged }
            })
        let outcome = try ImportService(store: store, now: now, zone: zone, sender: sender).run(
            FileReading(path: sender.name, profile: kind, person: person, source: post.source, interpreter: post.interpreter),
            received: received)
        if let failure = outcome.failure { throw Failure.malformed("\(failure)") }
        return outcome.account
    }

    /// The grants to write, none if the client was removed.
    private static func writable(_ client: Client, _ store: SampleStore) throws -> [Grant] {
        guard try store.clients.client(named: client.name)?.id == client.id else { return [] }
        return try store.clients.grants(of: client).filter(\.mayWrite)
    }

    private static func person(of grants: [Grant], _ store: SampleStore) throws(Failure) -> String {
        let people = Set(grants.map(\.person))
        guard let first = people.first else { throw .notGranted }
        guard people.count > 1 else { return first }
        guard people.contains(store.owner) else { throw .severalPeople }
        return store.owner
    }
}
