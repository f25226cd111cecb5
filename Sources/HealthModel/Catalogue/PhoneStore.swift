/// A store of health data on a phone, to which apps write.
///
///     PhoneStore.healthConnect.record(of: .bodyMass)?.name  // "WeightRecord"
public enum PhoneStore: String, Sendable, CaseIterable {
    case appleHealth = "apple-health"
    case healthConnect = "health-connect"

    /// How a sample is written to a phone.
    public struct Record: Hashable, Sendable {
        /// The name of the type on the phone, such as `WeightRecord` or `HKQuantityTypeIdentifierBodyMass`.
        public var name: String
        /// The type of the second value of the same record, such as the diastolic pressure.
        public var second: SampleType?
        /// Whether a record must last, so that it ends after its start.
        public var mustLast = false
    }

    /// How a sample of a type is written, or `nil` if an app cannot write the type. The second value of a record is not written alone.
    public func record(of type: SampleType) -> Record? { Self.records[self]?[type.id] }

    /// The types that can be written, with the second values.
    public var types: [SampleType] {
        (Self.records[self] ?? [:]).flatMap { [SampleType($0.key), $0.value.second].compactMap { $0 } }
    }

    /// The type of the first value of a record that has this type as its second value.
    public func first(of second: SampleType) -> SampleType? {
        Self.records[self]?.first { $0.value.second == second }.flatMap { SampleType($0.key) }
    }

    /// Whether the samples of a source come from such a store, so that the phone has them already.
    public static func contains(source id: String) -> Bool { app(ofSource: id) != nil }

    /// The name or package of the app that wrote the samples of a source, or `nil` if the source is not read from a phone's store. It is
    /// empty if the app is not known.
    ///
    ///     PhoneStore.app(ofSource: "apple-health/Shortcuts")  // "Shortcuts"
    public static func app(ofSource id: String) -> String? {
        let source = sources.first { id == $0 || id.hasPrefix("\($0)/") || id.hasPrefix("\($0).") }
        guard let source else { return nil }
        return String(id.dropFirst(source.count + 1))
    }

    /// The ids of sources that are read from a phone's store: its exports and the posts of apps. Names of apps may follow.
    public static let sources = ["apple-health", "health-auto-export", "file.health-connect", "hc-webhook"]

    /// A row is a type, its record in Health Connect, and whether HealthKit accepts it from apps. `-` is a type that the store does not have.
    ///
    /// Sources: the classes of `androidx.health.connect.client.records`, whose tables the profile `health-connect` reads
    /// (<https://developer.android.com/reference/kotlin/androidx/health/connect/client/records/package-summary>), and
    /// <https://developer.apple.com/documentation/healthkit/hkquantitytypeidentifier>.
    ///
    /// - `lasts`: `StepsRecord`, `FloorsClimbedRecord` and `HydrationRecord` are intervals that end after their start.
    /// - Health Connect has only RMSSD for `heartRateVariabilitySDNN`, and no body mass index or waist circumference.
    /// - HealthKit has no bone or water mass.
    /// - Types are left out that are not one number with a time: nights, workouts, meals, insulin (which needs a reason), and energy and
    ///   distance, which apps on phones already count.
    private static let table = """
        bodyMass                 | WeightRecord               |       | yes
        bodyMassIndex            | -                          |       | yes
        bodyFatPercentage        | BodyFatRecord              |       | yes
        leanBodyMass             | LeanBodyMassRecord         |       | yes
        boneMass                 | BoneMassRecord             |       | -
        bodyWaterMass            | BodyWaterMassRecord        |       | -
        height                   | HeightRecord               |       | yes
        waistCircumference       | -                          |       | yes
        bodyTemperature          | BodyTemperatureRecord      |       | yes
        basalBodyTemperature     | BasalBodyTemperatureRecord |       | yes
        bloodGlucose             | BloodGlucoseRecord         |       | yes
        oxygenSaturation         | OxygenSaturationRecord     |       | yes
        respiratoryRate          | RespiratoryRateRecord      |       | yes
        heartRate                | HeartRateRecord            |       | yes
        restingHeartRate         | RestingHeartRateRecord     |       | yes
        heartRateVariabilitySDNN | -                          |       | yes
        vo2Max                   | Vo2MaxRecord               |       | yes
        peakExpiratoryFlowRate   | -                          |       | yes
        forcedVitalCapacity      | -                          |       | yes
        forcedExpiratoryVolume1  | -                          |       | yes
        stepCount                | StepsRecord                | lasts | yes
        flightsClimbed           | FloorsClimbedRecord        | lasts | yes
        dietaryWater             | HydrationRecord            | lasts | yes
        """

    private static let records: [PhoneStore: [String: Record]] = {
        let diastolic = SampleType("bloodPressureDiastolic")
        var apple = ["bloodPressureSystolic": Record(name: "HKCorrelationTypeIdentifierBloodPressure", second: diastolic)]
        var android = ["bloodPressureSystolic": Record(name: "BloodPressureRecord", second: diastolic)]
        for line in table.split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.filter { $0 != " " } }
            guard cells.count == 4, let type = SampleType(cells[0]) else { continue }
            if cells[1] != "-" { android[type.id] = Record(name: cells[1], mustLast: cells[2] == "lasts") }
            if cells[3] == "yes", let name = type.healthKitIdentifier { apple[type.id] = Record(name: name) }
        }
        return [.appleHealth: apple, .healthConnect: android]
    }()
}
