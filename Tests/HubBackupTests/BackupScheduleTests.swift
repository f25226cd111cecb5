import HealthModel
import Testing

@testable import HubBackup

/// When backups and drills are due.
@Suite struct BackupScheduleTests {
    private let schedule = BackupSchedule()
    private let zone = TimeZoneRules(fixed: ZoneOffset(seconds: 3600))
    private static let hour: Int64 = 3_600_000_000

    /// 2026-11-20 at an hour of a zone that is an hour ahead of UTC.
    private func time(_ hour: Int64, day: Int64 = 20) throws -> Instant {
        let text = "2026-11-\(day)T00:00:00+01:00"
        return Instant(microseconds: try #require(try Timestamp(iso8601: text).instant).microseconds + hour * Self.hour)
    }

    private func due(_ place: BackupState.Place, _ now: Instant, erasures: Int64 = 0) -> BackupSchedule.Due {
        schedule.due(place, erasures: erasures, zone: zone, now: now)
    }

    private func made(_ time: Instant) -> BackupState.Place {
        var place = BackupState.Place()
        (place.made, place.tried, place.drillTried, place.proven) = (
            time.microseconds, time.microseconds, time.microseconds, time.microseconds
        )
        return place
    }

    @Test func eachNightAtHalfPastThree() throws {
        #expect(due(BackupState.Place(), try time(12)).backup)
        let place = made(try time(4))
        #expect(due(place, try time(23)).isNothing)
        #expect(due(place, try time(27)).isNothing)
        #expect(due(place, try time(28)).backup)
        // It was off, and makes it when it is on again.
        #expect(due(place, try time(40)).backup)
        // Made before half past three.
        #expect(due(made(try time(3)), try time(4)).backup)
        var twice = schedule
        twice.times = [210, 930]
        #expect(twice.due(place, erasures: 0, zone: zone, now: try time(16)).backup)
    }

    @Test func aFailureIsTriedAgainLaterAndLater() throws {
        var place = made(try time(4))
        let now = try time(28)
        for (failures, minutes) in [(1, 15), (2, 30), (3, 60), (5, 240), (6, 360), (900, 360)] as [(Int, Int64)] {
            (place.tried, place.failures) = (now.microseconds, failures)
            #expect(due(place, Instant(microseconds: now.microseconds + (minutes - 1) * 60_000_000)).isNothing, "\(failures)")
            #expect(due(place, Instant(microseconds: now.microseconds + minutes * 60_000_000)).backup, "\(failures)")
        }
        // The clock was set back by years.
        #expect(due(place, try time(28, day: 10)).backup)
    }

    @Test func anErasureIsDueAtOnce() throws {
        var place = made(try time(4))
        #expect(due(place, try time(5), erasures: 1).backup)
        place.erasures = 1
        #expect(due(place, try time(5), erasures: 1).isNothing)
    }

    @Test func drillsWeeklyAndDailyAfterAFailure() throws {
        var place = made(try time(4))
        #expect(!due(place, try time(4 + 24 * 6)).drill)
        #expect(due(place, try time(4 + 24 * 7)).drill)
        place.drillFailure = "damaged"
        #expect(due(place, try time(4 + 24)).drill)
        place.drillTried = nil
        #expect(due(place, try time(5)).drill)
        // The location does not answer.
        (place.failures, place.tried) = (1, try time(5).microseconds)
        #expect(!due(place, try time(5)).drill)
        #expect(due(place, try time(6)).drill)
        // Nothing to prove yet.
        #expect(!due(BackupState.Place(), try time(5)).drill)
    }
}
