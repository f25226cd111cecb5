import HealthModel
import Pipeline

/// The match of a profile with another program's database. Each table is a channel.
package struct DatabaseMatch: Sendable {
    package let profile: Profile
    let channels: [TableChannel]

    /// The required tables, in the order of the channels.
    package var wanted: ForeignDatabase {
        ForeignDatabase(
            tables: channels.compactMap(\.foreign), ignoredTables: profile.ignoredTables, ignoredColumns: profile.ignoredColumns)
    }
}

extension Profile {
    /// The profile's match for databases, or nil if it reads none.
    package var database: DatabaseMatch? {
        let channels = tables.filter { $0.kind == .sqlite && $0.foreign != nil }
        return channels.isEmpty ? nil : DatabaseMatch(profile: self, channels: channels)
    }
}

extension ProfileLibrary {
    /// Finds the profile that knows most of a database's tables.
    ///
    /// - Parameters:
    ///   - id: the profile, if the user named it.
    ///   - present: returns which of a profile's tables exist in the database.
    package func match(profile id: String?, database present: (DatabaseMatch) throws -> [Int]) throws -> DatabaseMatch {
        let seen = "it is an SQLite database, but it has no table that a profile knows"
        if profiles.isEmpty { throw ProfileMatchError.noProfiles(folders: folders) }
        if let id {
            guard let profile = self[id] else { throw ProfileMatchError.noSuchProfile(id: id) }
            guard let match = profile.database, try !present(match).isEmpty else {
                throw ProfileMatchError.doesNotFit(id: id, seen: seen)
            }
            return match
        }
        var best: [(match: DatabaseMatch, count: Int)] = []
        for match in profiles.compactMap(\.database) {
            let count = try present(match).count
            guard count > 0, count >= best.first?.count ?? 0 else { continue }
            if count > best.first?.count ?? 0 { best = [] }
            best.append((match, count))
        }
        guard let first = best.first else { throw ProfileMatchError.noMatch(seen: seen) }
        guard best.count == 1 else { throw ProfileMatchError.severalMatch(ids: best.map(\.match.profile.id)) }
        return first.match
    }
}

/// Reads the rows of another program's database, each table by its channel.
package final class DatabaseInterpreter: FrameInterpreter {
    private let interpreters: [String: ProfileInterpreter]

    /// - Throws: ``ProfileErrors`` if an option sets something that the profile does not leave open.
    package init(_ match: DatabaseMatch, registry: OriginRegistry, options: InterpreterOptions = InterpreterOptions())
        throws(ProfileErrors)
    {
        var interpreters: [String: ProfileInterpreter] = [:]
        for (index, channel) in match.channels.enumerated() {
            let own = ProfileMatch(profile: match.profile, form: .database(match.wanted), channel: channel, score: 0)
            interpreters["sqlite:\(index)"] = try ProfileInterpreter(own, registry: registry, options: options)
        }
        self.interpreters = interpreters
    }

    /// Assumptions about the database, sorted.
    package var notes: [String] { Set(interpreters.values.flatMap(\.notes)).sorted() }

    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        guard let interpreter = interpreters[frame.channel] else {
            throw Refusal("it has no table of the profile", at: frame.place)
        }
        return try interpreter.interpret(frame, into: &readings)
    }
}
