import HealthModel

/// The sport of an activity: HealthKit's name for it and the types of its measurements.
struct ActivitySport {
    /// HealthKit's raw number, or that of `other` if HealthKit has no name for the sport.
    let number: Int
    /// Whether the word in the file is unknown.
    let isUnknown: Bool
    let distance: SampleType?
    let cadence: SampleType?
    let power: SampleType?
    let speed: SampleType?

    /// The sport of an activity that does not name one.
    static let other = ActivitySport("other", isUnknown: false)

    /// - Parameter activity: HealthKit's name for the sport.
    private init(_ activity: String, isUnknown: Bool) {
        let values = SampleType("workout")?.categoryValues
        number = values?.value(of: activity) ?? Self.otherNumber
        self.isUnknown = isUnknown
        distance = Self.distances[activity].flatMap { SampleType($0) }
        cadence = activity == "cycling" ? SampleType("cyclingCadence") : nil
        power = Self.powers[activity].flatMap { SampleType($0) }
        speed = Self.speeds[activity].flatMap { SampleType($0) }
    }

    /// `HKWorkoutActivityTypeOther`.
    private static let otherNumber = 3000

    private static let powers = ["cycling": "cyclingPower", "running": "runningPower"]

    /// Hiking has no speed type, because HealthKit's walking speed is measured on flat ground.
    private static let speeds = [
        "cycling": "cyclingSpeed", "running": "runningSpeed", "walking": "walkingSpeed", "rowing": "rowingSpeed",
        "paddleSports": "paddleSportsSpeed", "crossCountrySkiing": "crossCountrySkiingSpeed",
    ]

    private static let distances = [
        "running": "distanceWalkingRunning", "walking": "distanceWalkingRunning", "hiking": "distanceWalkingRunning",
        "cycling": "distanceCycling", "swimming": "distanceSwimming", "rowing": "distanceRowing",
        "paddleSports": "distancePaddleSports", "skatingSports": "distanceSkatingSports",
        "crossCountrySkiing": "distanceCrossCountrySkiing", "downhillSkiing": "distanceDownhillSnowSports",
        "snowboarding": "distanceDownhillSnowSports", "wheelchairWalkPace": "distanceWheelchair",
        "wheelchairRunPace": "distanceWheelchair",
    ]

    // MARK: Words

    /// Creates the sport from the word in a TCX file or in the `type` of a GPX track. Case, blanks and underscores are ignored.
    ///
    /// TCX has three words (`Sport_t` in Garmin's TrainingCenterDatabasev2.xsd), and many programs write others. Google Fit and Fitbit
    /// write `Walking` and `Hiking`. Others write the names of Garmin Connect, Strava or the FIT profile. An unknown word becomes
    /// `other`.
    init(word: String) {
        if let activity = Self.numbers[word] {
            self.init(activity, isUnknown: false)
            return
        }
        let word = Self.plain(word)
        if let activity = Self.words[word] ?? Self.healthKit[word] ?? Self.plainFIT[word] {
            self.init(activity, isUnknown: false)
        } else {
            self.init("other", isUnknown: true)
        }
    }

    /// The numbers that Strava's GPX files contained instead of words. Strava has not documented them. These are in public files of
    /// known activities (sports-alliance/sports-lib, `src/specs/fixtures`, has 1, 9, 16 and 17) and in programs that write such files
    /// (https://stackoverflow.com/questions/61903437).
    private static let numbers = [
        "1": "cycling", "4": "hiking", "9": "running", "10": "walking", "16": "swimming", "17": "cycling",
    ]

    private static func plain(_ word: String) -> String {
        String(String.UnicodeScalarView(word.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic }))
    }

    /// HealthKit's names by their letters.
    private static let healthKit: [String: String] = {
        var names: [String: String] = [:]
        for (_, name) in SampleType("workout")?.categoryValues?.cases ?? [] { names[plain(name)] = name }
        return names
    }()

    private static let plainFIT: [String: String] = {
        var names: [String: String] = [:]
        for (word, name) in fit { names[plain(word)] = name }
        for (word, name) in fitBelow where names[plain(word)] == nil { names[plain(word)] = name }
        return names
    }()

    /// The words of TCX and of manufacturers, in addition to those of HealthKit and of the FIT profile.
    ///
    /// Sources: `SportType` of Strava's API (https://developers.strava.com/docs/reference/#api-models-SportType), the activity types of
    /// Garmin Connect's Activity API, the names of activities in Fitbit's Web API and in Google Fit
    /// (https://developers.google.com/fit/rest/v1/reference/activity-types).
    private static let words: [String: String] = [
        "biking": "cycling", "bike": "cycling", "bicycling": "cycling", "ride": "cycling", "outdoorbike": "cycling",
        "virtualride": "cycling", "ebikeride": "cycling", "mountainbikeride": "cycling", "emountainbikeride": "cycling",
        "gravelride": "cycling", "roadbiking": "cycling", "mountainbiking": "cycling", "roadcycling": "cycling",
        "virtualcycling": "cycling", "gravelcycling": "cycling", "cyclocross": "cycling", "stationarybike": "cycling",
        "spinning": "cycling", "handcycle": "handCycling", "run": "running", "trailrun": "running", "virtualrun": "running",
        "treadmill": "running", "treadmillrunning": "running", "trailrunning": "running", "trackrunning": "running",
        "streetrunning": "running", "virtualrunning": "running", "jogging": "running", "walk": "walking",
        "casualwalking": "walking", "speedwalking": "walking", "nordicwalking": "walking", "hike": "hiking", "swim": "swimming",
        "lapswimming": "swimming", "openwaterswimming": "swimming", "rower": "rowing", "canoeing": "paddleSports",
        "standuppaddling": "paddleSports", "kayak": "paddleSports", "nordicski": "crossCountrySkiing",
        "crosscountryski": "crossCountrySkiing", "skateskiing": "crossCountrySkiing", "alpineski": "downhillSkiing",
        "snowboard": "snowboarding", "snowshoe": "snowSports", "iceskate": "skatingSports", "inlineskate": "skatingSports",
        "rollerski": "skatingSports", "skateboard": "skatingSports", "surf": "surfingSports", "sail": "sailing",
        "weights": "traditionalStrengthTraining", "weighttraining": "traditionalStrengthTraining", "crossfit": "crossTraining",
        "stairstepper": "stairClimbing", "stairclimber": "stairClimbing", "circuittraining": "mixedCardio",
    ]

    /// Creates the sport from the sport and sub-sport of a FIT file, as Garmin's profile names them (``FITProfile/sports``). A sport
    /// without a HealthKit name becomes `other`.
    ///
    /// - Returns: `nil` if the file does not contain a sport.
    init?(fit sport: String?, _ subSport: String?) {
        guard let sport else { return nil }
        if let activity = Self.fit[sport] {
            self.init(activity, isUnknown: false)
            return
        }
        switch sport {
        // For machines and exercises, the sub-sport names the activity.
        case "fitness_equipment", "training", "generic":
            self.init(subSport.flatMap { Self.fitBelow[$0] } ?? "other", isUnknown: false)
        default: self.init("other", isUnknown: !FITProfile.sports.values.contains(sport))
        }
    }

    private static let fit = [
        "running": "running", "cycling": "cycling", "e_biking": "cycling", "transition": "transition", "swimming": "swimming",
        "basketball": "basketball", "soccer": "soccer", "tennis": "tennis", "american_football": "americanFootball",
        "walking": "walking", "cross_country_skiing": "crossCountrySkiing", "alpine_skiing": "downhillSkiing",
        "snowboarding": "snowboarding", "rowing": "rowing", "hiking": "hiking", "paddling": "paddleSports", "golf": "golf",
        "horseback_riding": "equestrianSports", "hunting": "hunting", "fishing": "fishing", "inline_skating": "skatingSports",
        "rock_climbing": "climbing", "sailing": "sailing", "ice_skating": "skatingSports", "snowshoeing": "snowSports",
        "stand_up_paddleboarding": "paddleSports", "surfing": "surfingSports", "kayaking": "paddleSports", "boxing": "boxing",
        "floor_climbing": "stairClimbing", "baseball": "baseball", "diving": "underwaterDiving",
        "hiit": "highIntensityIntervalTraining", "wheelchair_push_walk": "wheelchairWalkPace",
        "wheelchair_push_run": "wheelchairRunPace", "disc_golf": "discSports", "cricket": "cricket", "rugby": "rugby",
        "hockey": "hockey", "lacrosse": "lacrosse", "volleyball": "volleyball", "mixed_martial_arts": "martialArts",
        "dance": "dance", "jump_rope": "jumpRope",
    ]

    private static let fitBelow = [
        "spin": "cycling", "indoor_cycling": "cycling", "indoor_rowing": "rowing", "elliptical": "elliptical",
        "stair_climbing": "stairClimbing", "flexibility_training": "flexibility",
        "strength_training": "traditionalStrengthTraining", "cardio_training": "mixedCardio", "yoga": "yoga",
        "pilates": "pilates", "indoor_walking": "walking", "indoor_running": "running", "hiit": "highIntensityIntervalTraining",
        "indoor_climbing": "climbing", "bouldering": "climbing",
    ]
}
