import HealthModel
import HubBackup
import Pipeline

extension HubStatus {
    package struct Backup: Codable, Hashable, Sendable {
        package var name: String
        /// The last verified backup.
        package var made: Instant?
        /// The newest backup that was restored and checked.
        package var proven: Instant?
        /// Since when the location is not connected.
        package var away: Instant?
        /// Why the last backup or drill failed.
        package var failure: String?
    }

    /// Reads the state of the backups beside a store.
    static func backups(ofStore path: String) -> [Backup]? {
        let places = BackupState(ofStore: path).places
        guard !places.isEmpty else { return nil }
        return places.sorted { $0.key < $1.key }.prefix(64).map { name, place in
            Backup(
                name: name, made: place.made.map { Instant(microseconds: $0) },
                proven: place.proven.map { Instant(microseconds: $0) }, away: place.away.map { Instant(microseconds: $0) },
                failure: place.drillFailure.map { "the drill failed: \($0)" } ?? place.failure)
        }
    }
}

extension BackupConfiguration {
    private static let day: Int64 = 86_400_000_000

    /// The findings of `doctor` about the backups of a store.
    func findings(ofStore path: String, at now: Instant) -> [Finding] {
        let state = BackupState(ofStore: path)
        return locations.map { finding($0, state.places[$0.name] ?? BackupState.Place(), path, now) }
    }

    private func finding(
        _ each: BackupLocationConfiguration, _ place: BackupState.Place, _ path: String, _ now: Instant
    ) -> Finding {
        let person = "backup \(each.name)"
        func age(_ time: Int64) -> String {
            let days = max(0, now.microseconds - time) / Self.day
            return days == 0 ? "today" : days == 1 ? "1 day ago" : "\(days) days ago"
        }
        let run = "sudo vitalgate backup run \(each.name)"
        let check = "sudo vitalgate backup check \(each.name)"
        if let failure = place.drillFailure {
            return Finding(.broken, person, "the last backup could not be restored: \(failure)", command: check)
        }
        guard let made = place.made else {
            return Finding(
                .broken, person, place.failure.map { "there is no backup: \($0)" } ?? "there is no backup yet", command: run)
        }
        var text = "last backup \(age(made))"
        text += place.proven.map { ", last proven backup \(age($0))" } ?? ", no backup was restored and checked yet"
        if let away = place.away { text += ", not connected since \(Instant(microseconds: away).description.prefix(10))" }
        if let failure = place.failure { text += ", \(failure)" }
        if place.isOld(at: now) { return Finding(.warning, person, text, command: run) }
        if place.proven == nil || place.isUnproven(at: now) { return Finding(.warning, person, text, command: check) }
        if each.location.isOnDisk(of: path) {
            return Finding(.warning, person, text + ", on the disk of the store: if it fails, both are lost")
        }
        return Finding(place.failure == nil ? .good : .warning, person, text, command: place.failure == nil ? nil : run)
    }
}
