import HealthModel

/// What is done in an activity: HealthKit's name of it, and the types of what is measured meanwhile.
struct ActivitySport {
    /// HealthKit's raw number; `nil` where nobody knows the file's word.
    let number: Int?
    /// Of the distance in all.
    let distance: SampleType?
    let cadence: SampleType?
    let power: SampleType?
    let speed: SampleType?

    /// - Parameter activity: HealthKit's name.
    init(_ activity: String) {
        number = SampleType("workout")?.categoryValues?.value(of: activity)
        distance = Self.distances[activity].flatMap { SampleType($0) }
        cadence = activity == "cycling" ? SampleType("cyclingCadence") : nil
        switch activity {
        case "cycling": (power, speed) = (SampleType("cyclingPower"), SampleType("cyclingSpeed"))
        case "running": (power, speed) = (SampleType("runningPower"), SampleType("runningSpeed"))
        default: (power, speed) = (nil, nil)
        }
    }

    private static let distances = [
        "running": "distanceWalkingRunning", "walking": "distanceWalkingRunning", "hiking": "distanceWalkingRunning",
        "cycling": "distanceCycling", "swimming": "distanceSwimming", "rowing": "distanceRowing",
        "paddleSports": "distancePaddleSports", "skatingSports": "distanceSkatingSports",
        "crossCountrySkiing": "distanceCrossCountrySkiing", "downhillSkiing": "distanceDownhillSnowSports",
        "snowboarding": "distanceDownhillSnowSports", "wheelchairWalkPace": "distanceWheelchair",
        "wheelchairRunPace": "distanceWheelchair",
    ]

    /// HealthKit's name of a TCX file's sport; the file's own where it is none of the schema's three.
    ///
    /// Source: `Sport_t` in Garmin's TrainingCenterDatabasev2.xsd.
    static func activity(ofTCX sport: String) -> String {
        switch sport {
        case "Running": "running"
        case "Biking": "cycling"
        case "Other": "other"
        default: "TCX " + sport
        }
    }

    /// HealthKit's name of a FIT file's sport and the one below it, by the names of Garmin's profile (``FITProfile/sports``). What HealthKit
    /// has no word for is `other`; a number that the profile does not have is nothing.
    static func activity(ofFIT sport: String, _ subSport: String) -> String {
        if let activity = fit[sport] { return activity }
        switch sport {
        // Machines and exercises: what is done, the second word says.
        case "fitness_equipment", "training", "generic": return fitBelow[subSport] ?? "other"
        default: return FITProfile.sports.values.contains(sport) ? "other" : "FIT " + sport
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
