import HealthModel

struct HealthAutoExportFigures {
    let sport: ActivitySport
    private(set) var statistics: [Workout.Statistics] = []
    /// The heart rates, or `nil` if none was measured.
    private(set) var heartRate: Workout.Statistics?
    private(set) var count = 0
    private var isFirstVersion = false

    init(_ line: LineObject) throws(LineFault) {
        let name = try line.text("name", atMost: 1024) ?? ""
        sport = Self.sport(name, of: line)
        let total = (try? line.object("activeEnergy")) ?? nil
        let isElevationWhole = ((try? line.object("elevation")) ?? nil) != nil
        isFirstVersion = total != nil || isElevationWhole
        let sums = [
            ("activeEnergyBurned", "activeEnergyBurned"), ("activeEnergy", "activeEnergyBurned"),
            ("totalEnergy", "totalEnergyBurned"),
            ("distance", sport.distance?.id ?? ""), ("totalSwimmingStrokeCount", "swimmingStrokeCount"),
            ("flightsClimbed", "flightsClimbed"), ("stepCount", "stepCount"),
        ]
        for (member, id) in sums {
            guard let type = SampleType(id), let sum = try amount(line, member, of: type),
                !statistics.contains(where: { $0.type == id })
            else { continue }
            statistics.append(Workout.Statistics(type: id, sum: sum))
            count += 1
        }
        heartRate = try heartRates(line)
        if heartRate != nil { count += 1 }
    }

    /// The facts besides statistics.
    func metadata(_ line: LineObject) throws(LineFault) -> [(String, MetadataValue)] {
        var entries: [(String, MetadataValue)] = []
        if sport.isUnknown || sport.number == ActivitySport.other.number, let name = try line.text("name", atMost: 1024) {
            entries.append(("activityName", .string(name)))
        }
        if line.has("isIndoor"), let isIndoor = try? line.flag("isIndoor"), !isFirstVersion {
            entries.append(("indoorWorkout", .boolean(isIndoor)))
        }
        for (member, key) in [
            ("intensity", "averageMETs"), ("intesity", "averageMETs"), ("avgSpeed", "averageSpeed"), ("maxSpeed", "maximumSpeed"),
            ("elevationUp", "elevationAscended"), ("elevationDown", "elevationDescended"), ("temperature", "weatherTemperature"),
            ("humidity", "weatherHumidity"), ("lapLength", "lapLength"),
        ] {
            guard !entries.contains(where: { $0.0 == key }), var amount = try amount(line, member, of: nil), amount.unit != nil
            else { continue }
            // The app writes m and means km.
            if key == "lapLength", amount.unit?.code == "m", amount.numeral.doubleValue < 1 {
                amount.unit = try? Unit(ucum: "km")
            }
            if let unit = amount.unit { entries.append((key, .quantity(amount.numeral, unit))) }
        }
        return entries
    }

    /// Returns a measured amount, or `nil` without one. In version 1, a 0 is an unmeasured value.
    private func amount(_ line: LineObject, _ member: String, of type: SampleType?) throws(LineFault) -> Amount? {
        guard line.place(member).map({ line.bytes[$0.lowerBound] == UInt8(ascii: "{") }) ?? false,
            let object = try line.object(member), let numeral = try object.number("qty"),
            !isFirstVersion || numeral.doubleValue != 0
        else { return nil }
        let word = try object.text("units", atMost: 64) ?? ""
        return HealthAutoExportNames.unit(word, of: type ?? .heartRate).map { Amount(numeral, $0) }
    }

    /// The heart rates of a workout. 0 was not measured.
    private func heartRates(_ line: LineObject) throws(LineFault) -> Workout.Statistics? {
        let whole =
            try line.place("heartRate").map { line.bytes[$0.lowerBound] == UInt8(ascii: "{") } ?? false
            ? line.object("heartRate") : nil
        func rate(_ name: String, _ other: String?) throws(LineFault) -> Amount? {
            var found = try whole.flatMap { whole throws(LineFault) in try amount(whole, name, of: .heartRate) }
            if found == nil, let other { found = try amount(line, other, of: .heartRate) }
            return found.flatMap { $0.numeral.doubleValue > 0 ? $0 : nil }
        }
        let (average, maximum) = (try rate("avg", "avgHeartRate"), try rate("max", "maxHeartRate"))
        let minimum = try rate("min", nil)
        guard average != nil || maximum != nil || minimum != nil else { return nil }
        return Workout.Statistics(type: SampleType.heartRate.id, average: average, minimum: minimum, maximum: maximum)
    }

    // MARK: Sports

    /// The place, which the app writes before the activity.
    private static let places: Set<String> = ["outdoor", "indoor", "pool", "open", "water"]
    private static let words = ["cycle": "cycling", "rower": "rowing"]

    /// The sport by its name, or by the members that only some sports have. Names are in the phone's language.
    private static func sport(_ name: String, of line: LineObject) -> ActivitySport {
        let words = name.split { $0 == " " || $0 == "\u{A0}" }.map(String.init)
        let rest = words.drop { places.contains($0.lowercased()) }.joined(separator: " ")
        let named = ActivitySport(word: Self.words[rest.lowercased()] ?? (rest.isEmpty ? name : rest))
        guard named.isUnknown else { return named }
        if ["swimDistance", "swimStroke", "lapLength", "swimCadence", "totalSwimmingStrokeCount"].contains(where: {
            isMeasured(line, $0)
        }) {
            return ActivitySport(word: "swimming")
        }
        if ["cyclingCadence", "cyclingDistance", "cyclingPower", "cyclingSpeed"].contains(where: { isMeasured(line, $0) }) {
            return ActivitySport(word: "cycling")
        }
        return .other
    }

    private static func isMeasured(_ line: LineObject, _ member: String) -> Bool {
        guard line.place(member) != nil else { return false }
        if let elements = (try? line.list(member, atMost: 1 << 20)) ?? nil { return !elements.isEmpty }
        guard let object = (try? line.object(member)) ?? nil else { return false }
        return ((try? object.number("qty")) ?? nil).map { $0.doubleValue != 0 } ?? false
    }
}
