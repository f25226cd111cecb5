import Dispatch
import HealthModel
import PipelineTesting
import Testing

@testable import HubBackup

/// When a person is told about backups, and that no process loses what another one wrote down.
@Suite struct BackupTroubleTests {
    private let now = Instant(seconds: 1_795_000_000)
    private static let day: Int64 = 86_400_000_000

    private func ago(_ days: Double) -> Int64 { now.microseconds - Int64(days * Double(Self.day)) }

    private func place(made: Double?, proven: Double?, began: Double? = 30) -> BackupState.Place {
        var place = BackupState.Place()
        (place.made, place.proven, place.began) = (made.map(ago), proven.map(ago), began.map(ago))
        return place
    }

    @Test func oldAndUnprovenBackups() {
        #expect(BackupState.Place().trouble(at: now) == nil)
        #expect(place(made: 0.5, proven: 7).trouble(at: now) == nil)
        #expect(place(made: 2.9, proven: 13.9).trouble(at: now) == nil)
        #expect(place(made: 3.1, proven: 4).trouble(at: now) == .old(days: 3))
        #expect(place(made: 0.5, proven: 15).trouble(at: now) == .unproven(days: 15))
        // Never proven: counted from the first backup.
        #expect(place(made: 0.5, proven: nil, began: 1).trouble(at: now) == nil)
        #expect(place(made: 0.5, proven: nil, began: 20).trouble(at: now) == .unproven(days: 20))
        // The clock was set back.
        #expect(place(made: -400, proven: -400).trouble(at: now) == nil)
    }

    @Test func failures() {
        var place = place(made: 0.5, proven: 1)
        (place.failure, place.failures) = ("restic is not installed", 2)
        #expect(place.trouble(at: now) == nil)
        place.failures = 3
        #expect(place.trouble(at: now) == .failing)
        place.drillFailure = "the store in the backup differs from the original"
        #expect(place.trouble(at: now) == .unrestorable)
        // It was never there.
        var away = BackupState.Place()
        away.away = ago(2)
        #expect(away.trouble(at: now) == nil)
        away.away = ago(4)
        #expect(away.trouble(at: now) == .failing)
    }

    /// The hub, its backups and its alerts write one file.
    @Test func concurrentWritesAreKept() throws {
        let folder = try TemporaryFolder()
        let store = folder.file("store.db")
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for _ in 0..<20 {
                try? BackupState.change("usb", ofStore: store) { $0.failures = ($0.failures ?? 0) + 1 }
                try? BackupState.change("place-\(number)", ofStore: store) { $0.samples = ($0.samples ?? 0) + 1 }
            }
        }
        let state = BackupState(ofStore: store)
        #expect(state.places["usb"]?.failures == 160)
        for number in 0..<8 { #expect(state.places["place-\(number)"]?.samples == 20) }
    }

    @Test func recordsAFailure() throws {
        let folder = try TemporaryFolder()
        let store = folder.file("store.db")
        func note(_ kind: BackupFailure.Kind) throws -> BackupState.Place {
            try BackupState.note(BackupFailure(kind, "words"), of: "usb", ofStore: store, at: now)
            return BackupState(ofStore: store).places["usb"] ?? BackupState.Place()
        }
        #expect(try note(.away).away == now.microseconds && note(.away).failures == nil)
        let failed = try note(.missingProgram)
        #expect(failed.failures == 1 && failed.failure == "words" && failed.away == nil && failed.tried == now.microseconds)
        #expect(try note(.stopped) == failed)
        #expect(try note(.unreachable).failures == 2)
    }
}
