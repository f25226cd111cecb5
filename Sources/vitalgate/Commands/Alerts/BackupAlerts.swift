import ExportEngine
import HealthModel
import HubBackup
import Pipeline

/// Tells a receiver of alerts that the backups at a location need attention, and later that they no longer do. The file of the backups'
/// state has what each receiver knows, so that it gets each message once, also after a start.
struct BackupAlerts {
    private let receiver: String
    private let store: String
    private let locations: [String]
    private let now: @Sendable () -> Instant

    /// - Parameter store: the path of the store, without links.
    init(receiver: String, store: String, locations: [String], now: @escaping @Sendable () -> Instant) {
        (self.receiver, self.store, self.locations, self.now) = (receiver, store, locations, now)
    }

    /// Delivers what the receiver does not know yet. What it does not acknowledge is sent again the next time.
    func report(_ delivery: AlertDelivery) throws {
        for name in locations {
            var kind: String?
            _ = try delivery.notify(
                due: { text in
                    let place = BackupState(ofStore: store).places[name] ?? BackupState.Place()
                    let trouble = place.trouble(at: now())
                    kind = trouble?.kind
                    guard trouble?.kind != place.reported?[receiver] else { return [] }
                    return [
                        text.backup(
                            name, Self.phrase(trouble), days: trouble?.days ?? 0, since: place.lastGood(trouble), at: now())
                    ]
                },
                sent: { _ in
                    try BackupState.change(name, ofStore: store) { place in
                        var reported = place.reported ?? [:]
                        reported[receiver] = kind
                        place.reported = reported.isEmpty ? nil : reported
                    }
                })
        }
    }

    private static func phrase(_ trouble: BackupTrouble?) -> AlertWords.Phrase {
        switch trouble {
        case .unrestorable: .backupUnrestorable
        case .failing: .backupFailing
        case .old: .backupOld
        case .unproven: .backupUnproven
        case nil: .backupWell
        }
    }
}
