import Formats
import HealthModel
import Pipeline

/// Changes in the format of the app Health Auto Export, for receivers that were written for it.
///
///     {"data":{"metrics":[{"name":"heart_rate","units":"bpm","data":[{"date":"2026-11-23 07:12:00 +0100","Min":72,"Avg":72,"Max":72}]}],"workouts":[]}}
///
/// The format is published by the app's maker (help.healthyapps.dev, export format, health metrics). Names are Health's English
/// names in lower case, joined by `_`. Only names that the maker or public receivers use are included. The format has no
/// deletions. We add them as `deleted`, and each reading's `uuid`.
struct HealthAutoExport {
    private static let metrics: [String: (name: String, code: String, units: String)] = [
        "heartRate": ("heart_rate", "/min", "bpm"), "restingHeartRate": ("resting_heart_rate", "/min", "bpm"),
        "walkingHeartRateAverage": ("walking_heart_rate_average", "/min", "bpm"),
        "heartRateVariabilitySDNN": ("heart_rate_variability", "ms", "ms"),
        "respiratoryRate": ("respiratory_rate", "/min", "count/min"),
        "oxygenSaturation": ("blood_oxygen_saturation", "%", "%"), "stepCount": ("step_count", "1{steps}", "count"),
        "distanceWalkingRunning": ("walking_running_distance", "km", "km"),
        "activeEnergyBurned": ("active_energy", "kcal", "kcal"),
        "basalEnergyBurned": ("basal_energy_burned", "kcal", "kcal"),
        "flightsClimbed": ("flights_climbed", "1{flights}", "count"),
        "appleExerciseTime": ("apple_exercise_time", "min", "min"), "bodyMass": ("weight_body_mass", "kg", "kg"),
        "bodyMassIndex": ("body_mass_index", "kg/m2", "count"), "bodyFatPercentage": ("body_fat_percentage", "%", "%"),
    ]

    private let context: ExportContext
    private var names: [String] = []
    private var readings: [String: (units: String, data: [JSONObject])] = [:]
    private var deleted: [String] = []
    private var pressures: Set<SampleIdentity> = []
    /// The number of changes that the format cannot represent.
    private(set) var leftOut = 0

    init(_ context: ExportContext) { self.context = context }

    /// - Throws: ``DeliveryError`` if the store cannot be read.
    mutating func add(_ change: SampleChange) throws(DeliveryError) {
        switch change {
        case .deleted(let deletion):
            guard Self.knows(deletion.type) else {
                leftOut += 1
                return
            }
            deleted.append(deletion.uuid.description)
        case .added(let stored):
            let sample = stored.sample
            if Self.isPressure(sample.origin.type) { return try add(pressure: sample) }
            guard let metric = Self.metrics[sample.origin.type.id] else {
                leftOut += 1
                return
            }
            var object = Self.reading(of: sample)
            let value = Self.value(of: sample, in: metric.code)
            for name in metric.name == "heart_rate" ? ["Min", "Avg", "Max"] : ["qty"] { object.set(name, value) }
            append(object, to: metric.name, units: metric.units)
        }
    }

    /// Adds both blood pressures as one reading. A single one cannot be represented.
    private mutating func add(pressure sample: Sample) throws(DeliveryError) {
        let halves: [Sample]
        do {
            halves = try context.packet(sample, [.bloodPressureSystolic, .bloodPressureDiastolic])
        } catch {
            throw DeliveryError(.unreachable, "the store: \(error)")
        }
        guard let systolic = halves.first(where: { $0.origin.type == .bloodPressureSystolic }),
            let diastolic = halves.first(where: { $0.origin.type == .bloodPressureDiastolic })
        else {
            leftOut += 1
            return
        }
        guard pressures.insert(systolic.identity).inserted else { return }
        var object = Self.reading(of: systolic)
        object.set(["systolic": systolic.value, "diastolic": diastolic.value])
        append(object, to: "blood_pressure", units: "mmHg")
    }

    private mutating func append(_ reading: JSONObject, to name: String, units: String) {
        if readings[name] == nil { names.append(name) }
        readings[name, default: (units, [])].data.append(reading)
    }

    private static func isPressure(_ type: SampleType) -> Bool {
        type == .bloodPressureSystolic || type == .bloodPressureDiastolic
    }

    private static func knows(_ type: SampleType) -> Bool { metrics[type.id] != nil || isPressure(type) }

    private static func reading(of sample: Sample) -> JSONObject {
        [
            "date": date(sample.start, sample.zone ?? .utc), "source": sample.origin.device?.name ?? sample.origin.source.name,
            "uuid": sample.identity.description,
        ]
    }

    private static func value(of sample: Sample, in code: String) -> Double {
        let canonical = sample.origin.type.canonicalUnit
        guard code != canonical.code, let unit = try? Unit(ucum: code), let conversion = try? canonical.conversion(to: unit)
        else {
            return sample.value
        }
        return sample.unit.code == code ? sample.numeral.doubleValue : conversion(sample.value)
    }

    /// Returns a date as `yyyy-MM-dd HH:mm:ss Z`.
    private static func date(_ instant: Instant, _ zone: ZoneOffset) -> String {
        let wall = instant.wallTime(at: zone).microseconds
        let seconds = Int(wall >= 0 ? wall / 1_000_000 : (wall - 999_999) / 1_000_000)
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let (date, rest) = (Calendar.date(days: days), seconds - days * 86_400)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = Int(zone.seconds.magnitude) / 60
        return "\(date.year)-\(two(date.month))-\(two(date.day)) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) "
            + (zone.seconds < 0 ? "-" : "+") + two(minutes / 60) + two(minutes % 60)
    }

    /// The bytes of the whole object.
    var bytes: [UInt8] {
        var data = JSONObject()
        data.set(
            "metrics",
            names.map { name in
                JSONObject(["name": name, "units": readings[name]?.units, "data": readings[name]?.data ?? []])
            })
        data.set(["workouts": [JSONObject](), "deleted": ifPresent(!deleted.isEmpty ? deleted : nil)])
        return JSONObject(["data": data]).closed
    }
}
