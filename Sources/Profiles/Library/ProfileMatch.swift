import Pipeline

/// The profile that reads a file, and the file's structure.
package struct ProfileMatch: Sendable {
    /// The structure by which a source splits the file.
    package enum Form: Hashable, Sendable {
        /// Rows of cells, separated by this byte.
        case delimited(UInt8)
        /// A list of objects, either the file itself or the member `rows` of one object. Each object becomes a row with one cell for each
        /// path. `ignored` contains the paths that are ignored on purpose.
        case jsonArray(paths: [String], rows: String?, ignored: [String])
        case database(ForeignDatabase)
    }

    package var profile: Profile
    package var form: Form
    var channel: TableChannel
    /// The number of the file's columns that the profile knows. The highest score wins.
    var score: Int
    /// The name of a column that occurs twice in the file.
    var doubled: String? = nil
}

/// The reasons why no single profile reads the file.
package enum ProfileMatchError: Error, Hashable, Sendable, CustomStringConvertible {
    case noMatch(seen: String)
    case noProfiles(folders: [String])
    /// Several profiles fit equally well.
    case severalMatch(ids: [String])
    case noSuchProfile(id: String)
    /// The named profile does not read this file.
    case doesNotFit(id: String, seen: String)
    /// The file has two columns with the same name.
    case twoColumns(name: String, id: String)
    /// No profile, or not the named one, reads this channel.
    case noChannel(String, of: String?)

    package var description: String {
        switch self {
        case .noMatch(HeadRows.emptyReason): "no profile reads this file: \(HeadRows.emptyReason)"
        case .noMatch(let seen):
            "no profile reads this file: \(seen): run `vitalgate profile suggest FILE` to draft a profile (docs/how-to/write-a-profile.md)"
        case .noProfiles(let folders):
            "no profile reads this file, because there are no profiles in \(folders.joined(separator: ", "))"
        case .severalMatch(let ids): "several profiles read this: \(ids.joined(separator: ", ")); --profile ID chooses one"
        case .noSuchProfile(let id): "there is no profile '\(id)': run `vitalgate profile list` for a list"
        case .doesNotFit(let id, let seen): "the profile '\(id)' does not read this file: \(seen)"
        case .twoColumns(let name, let id):
            "the file has two columns '\(name)', and the profile '\(id)' needs one: rename or remove the other"
        case .noChannel(let channel, nil): "no profile reads the channel '\(channel)'"
        case .noChannel(let channel, let id?): "the profile '\(id)' does not read the channel '\(channel)'"
        }
    }
}

extension ProfileLibrary {
    /// Finds the profile that reads a file.
    ///
    /// - Parameters:
    ///   - text: the start of the file, for example 64 KiB.
    ///   - id: the profile, if the user named it.
    package func match(firstLines text: String, profile id: String? = nil) throws(ProfileMatchError) -> ProfileMatch {
        if profiles.isEmpty { throw .noProfiles(folders: folders) }
        if let id {
            guard let profile = self[id] else { throw .noSuchProfile(id: id) }
            guard let match = profile.match(firstLines: text) else {
                throw .doesNotFit(id: id, seen: HeadRows.description(of: text))
            }
            return try match.checked()
        }
        let matches = profiles.compactMap { $0.match(firstLines: text) }
        guard let best = matches.map(\.score).max() else { throw .noMatch(seen: HeadRows.description(of: text)) }
        let bestMatches = matches.filter { $0.score == best }
        guard let match = bestMatches.first, bestMatches.count == 1 else {
            throw .severalMatch(ids: bestMatches.map(\.profile.id))
        }
        return try match.checked()
    }
}

extension ProfileMatch {
    fileprivate func checked() throws(ProfileMatchError) -> ProfileMatch {
        if let doubled { throw .twoColumns(name: String(doubled.prefix(40).filter { !$0.isNewline }), id: profile.id) }
        return self
    }
}

extension Profile {
    /// Returns the match with the file, or nil if this profile does not read it.
    package func match(firstLines text: String) -> ProfileMatch? {
        let first = text.drop(while: { $0.isWhitespace || $0 == "\u{FEFF}" }).first
        let (isArray, isObject) = (first == "[", first == "{")
        let matches = tables.compactMap { table -> ProfileMatch? in
            switch table.kind {
            // A database is not text. See `DatabaseMatch`.
            case .sqlite: return nil
            case .json:
                // A list of objects, or several objects in a row.
                guard isObject || (isArray && table.rows == nil),
                    let object = JSONHead.firstObject(of: text, rows: table.rows)
                else { return nil }
                var score = 0
                for column in table.columns {
                    if object.contains(column.path ?? "") { score += 1 } else if column.isRequired { return nil }
                }
                guard table.anyOf.isEmpty || table.anyOf.contains(where: { object.contains(table.columns[$0].path ?? "") })
                else { return nil }
                return ProfileMatch(
                    profile: self,
                    form: .jsonArray(paths: table.paths, rows: table.rows, ignored: table.ignored.map(\.text)), channel: table,
                    score: score)
            case .csv:
                guard !isArray else { return nil }
                return table.delimiters.compactMap { delimiter -> ProfileMatch? in
                    // The lines that may contain the header, and the two of a summary.
                    let rows = HeadRows.rows(of: text, delimiter: delimiter, limit: table.headerWithin + 2)
                    guard let score = HeadRows.score(table, rows) else { return nil }
                    return ProfileMatch(
                        profile: self, form: .delimited(delimiter), channel: table, score: score.score, doubled: score.doubled)
                }.max { $0.score < $1.score }
            }
        }
        return matches.max { $0.score < $1.score }
    }
}
