import HealthModel

/// The views that sum up quantities for an analyst: the devices, the coverage of each day, and one row for each person and day.
struct SummaryViews {
    let schema: String

    var all: [DatabaseViews.View] { [devices, coverage, dailySum, personDays] }

    /// The local date of a row of the table of samples. Without a zone it is that of UTC.
    static let date = "(held.start_time AT TIME ZONE 'UTC' + coalesce(held.zone_offset, 0) * interval '1 second')::date"

    private var devices: DatabaseViews.View {
        DatabaseViews.View(
            name: "device",
            statement: """
                CREATE OR REPLACE VIEW \(schema).device AS
                SELECT held.device_key, held.subject, max(held.device_name) AS device_name,
                    max(held.device_manufacturer) AS device_manufacturer, max(held.device_model) AS device_model,
                    array_agg(DISTINCT held.type) AS types, count(*) AS count, min(held.start_time) AS first_time,
                    max(held.start_time) AS last_time
                FROM \(schema).sample held WHERE held.device_key IS NOT NULL GROUP BY 1, 2
                """,
            comment: "The devices that measured quantities, one row for each device and person.")
    }

    private var coverage: DatabaseViews.View {
        DatabaseViews.View(
            name: "coverage",
            statement: """
                CREATE OR REPLACE VIEW \(schema).coverage AS
                SELECT \(Self.date) AS date, held.subject, held.type, count(*) AS count,
                    count(DISTINCT date_trunc('hour', held.start_time)) AS hours, min(held.start_time) AS first_time,
                    max(held.start_time) AS last_time
                FROM \(schema).sample held GROUP BY 1, 2, 3
                """,
            comment:
                "How many quantities there are of each person, local day, and type, and in how many hours of the day at least one began."
        )
    }

    /// The types with a column in the view of days. New ones are added at the end, because replacing a view can only add columns there.
    static let dailyTypes = [
        "stepCount", "distanceWalkingRunning", "flightsClimbed", "activeEnergyBurned", "basalEnergyBurned", "appleExerciseTime",
        "heartRate", "restingHeartRate", "walkingHeartRateAverage", "heartRateVariabilitySDNN", "oxygenSaturation",
        "respiratoryRate", "bodyTemperature", "bloodGlucose", "bloodPressureSystolic", "bloodPressureDiastolic", "bodyMass",
        "bodyMassIndex", "bodyFatPercentage", "vo2Max",
    ]

    private var personDays: DatabaseViews.View {
        let columns = Self.dailyTypes.map {
            "max(coalesce(sum, average)) FILTER (WHERE type = '\($0)') AS \(DatabaseSchema.snake($0))"
        }
        return DatabaseViews.View(
            name: "person_day",
            statement: """
                CREATE OR REPLACE VIEW \(schema).person_day AS
                SELECT date, subject, \(columns.joined(separator: ", ")) FROM \(schema).day WHERE source_id = '' GROUP BY 1, 2
                """,
            comment:
                "One row for each person and local day, with a column for each common type: the sum for types that add up, otherwise the average, as 'vitalgate stats --own-zone' computes them."
        )
    }

    /// The sums of each source by itself.
    private var dailySum: DatabaseViews.View {
        DatabaseViews.View(
            name: "daily_sum",
            statement: """
                CREATE OR REPLACE VIEW \(schema).daily_sum AS
                SELECT day.date, day.subject, day.type, day.source_id, day.sum, type.unit, day.count
                FROM \(schema).day JOIN \(schema).type ON type.name = day.type WHERE day.source_id <> '' AND day.sum IS NOT NULL
                """,
            comment:
                "Sums by local day of the types that add up, each source for itself, as 'vitalgate stats --own-zone --by-source' computes them."
        )
    }
}
