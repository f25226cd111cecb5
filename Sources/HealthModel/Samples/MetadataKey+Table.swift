extension MetadataKey {
    /// Every key that HealthKit defines for quantity samples, without keys that only workouts have.
    ///
    /// Source: `HKMetadata.h` of the iOS 18 and 26 SDKs, with the raw strings that exports contain.
    public static let all: [MetadataKey] = identity + measurement + activity

    /// The keys of the measuring method, HealthKit's by name and our own. They are part of a reading's identity. A finger-stick that
    /// confirms the sensor to the digit is a second measurement (``SampleIdentity``).
    ///
    /// The position of a sensor is not one of them. A device may send it before or after the reading, which stays the same.
    public static let methods: Set<String> = [
        "glucoseMethod", "vo2MaxTestType", "heartRateRecoveryTestType", "cyclingFunctionalThresholdPowerTestType",
        "physicalEffortEstimationType",
    ]

    /// Who made the sample, and when.
    private static let identity: [MetadataKey] = [
        MetadataKey("syncIdentifier", "HKMetadataKeySyncIdentifier", .string),
        MetadataKey("syncVersion", "HKMetadataKeySyncVersion", .number),
        MetadataKey("externalUUID", "HKExternalUUID", .string),
        MetadataKey("timeZone", "HKTimeZone", .string),
        MetadataKey("wasUserEntered", "HKWasUserEntered", .boolean),
        MetadataKey("deviceSerialNumber", "HKDeviceSerialNumber", .string),
        MetadataKey("deviceName", "HKDeviceName", .string),
        MetadataKey("deviceManufacturerName", "HKDeviceManufacturerName", .string),
        MetadataKey("udiDeviceIdentifier", "HKUDIDeviceIdentifier", .string),
        MetadataKey("udiProductionIdentifier", "HKUDIProductionIdentifier", .string),
        MetadataKey("digitalSignature", "HKDigitalSignature", .string),
        MetadataKey("algorithmVersion", "HKAlgorithmVersion", .string),
        MetadataKey("dateOfEarliestDataUsedForEstimate", "HKDateOfEarliestDataUsedForEstimate", .date),
        MetadataKey("appleDeviceCalibrated", "HKMetadataKeyAppleDeviceCalibrated", .boolean),
    ]

    /// Keys about the method and place of the measurement.
    private static let measurement: [MetadataKey] = [
        MetadataKey(
            "bodyTemperatureSensorLocation", "HKBodyTemperatureSensorLocation",
            .enumeration([
                0: "other", 1: "armpit", 2: "body", 3: "ear", 4: "finger", 5: "gastroIntestinal", 6: "mouth", 7: "rectum",
                8: "toe", 9: "earDrum", 10: "temporalArtery", 11: "forehead",
            ])),
        MetadataKey(
            "heartRateSensorLocation", "HKHeartRateSensorLocation",
            .enumeration([0: "other", 1: "chest", 2: "wrist", 3: "finger", 4: "hand", 5: "earLobe", 6: "foot"])),
        MetadataKey(
            "heartRateMotionContext", "HKMetadataKeyHeartRateMotionContext",
            .enumeration([0: "notSet", 1: "sedentary", 2: "active"])),
        MetadataKey(
            "userMotionContext", "HKMetadataKeyUserMotionContext",
            .enumeration([0: "notSet", 1: "stationary", 2: "active"])),
        MetadataKey("bloodGlucoseMealTime", "HKBloodGlucoseMealTime", .enumeration([1: "preprandial", 2: "postprandial"])),
        MetadataKey("insulinDeliveryReason", "HKInsulinDeliveryReason", .enumeration([1: "basal", 2: "bolus"])),
        MetadataKey(
            "vo2MaxTestType", "HKVO2MaxTestType",
            .enumeration([
                1: "maxExercise", 2: "predictionSubMaxExercise", 3: "predictionNonExercise", 4: "predictionStepTest",
            ])),
        MetadataKey(
            "heartRateRecoveryTestType", "HKMetadataKeyHeartRateRecoveryTestType",
            .enumeration([1: "maxExercise", 2: "predictionSubMaxExercise", 3: "predictionNonExercise"])),
        MetadataKey("heartRateRecoveryActivityType", "HKMetadataKeyHeartRateRecoveryActivityType", .number),
        MetadataKey("heartRateRecoveryActivityDuration", "HKMetadataKeyHeartRateRecoveryActivityDuration", .quantity),
        MetadataKey(
            "heartRateRecoveryMaxObservedRecoveryHeartRate",
            "HKMetadataKeyHeartRateRecoveryMaxObservedRecoveryHeartRate", .quantity),
        MetadataKey("sessionEstimate", "HKMetadataKeySessionEstimate", .quantity),
        MetadataKey(
            "devicePlacementSide", "HKMetadataKeyDevicePlacementSide",
            .enumeration([0: "unknown", 1: "left", 2: "right", 3: "central"])),
        MetadataKey("barometricPressure", "HKMetadataKeyBarometricPressure", .quantity),
        MetadataKey("quantityClampedToLowerBound", "HKMetadataKeyQuantityClampedToLowerBound", .boolean),
        MetadataKey("quantityClampedToUpperBound", "HKMetadataKeyQuantityClampedToUpperBound", .boolean),
        MetadataKey("wasTakenInLab", "HKWasTakenInLab", .boolean),
        MetadataKey("referenceRangeLowerLimit", "HKReferenceRangeLowerLimit", .number),
        MetadataKey("referenceRangeUpperLimit", "HKReferenceRangeUpperLimit", .number),
        MetadataKey("audioExposureLevel", "HKMetadataKeyAudioExposureLevel", .quantity),
        MetadataKey("audioExposureDuration", "HKMetadataKeyAudioExposureDuration", .quantity),
        MetadataKey("headphoneGain", "HKMetadataKeyHeadphoneGain", .quantity),
    ]

    /// Keys about activities, food and surroundings.
    private static let activity: [MetadataKey] = [
        MetadataKey(
            "physicalEffortEstimationType", "HKPhysicalEffortEstimationType",
            .enumeration([1: "activityLookup", 2: "deviceSensed"])),
        // The word is repeated in HealthKit's string.
        MetadataKey(
            "cyclingFunctionalThresholdPowerTestType", "HKCyclingCyclingFunctionalThresholdPowerTestType",
            .enumeration([1: "maxExercise60Minute", 2: "maxExercise20Minute", 3: "rampTest", 4: "predictionExercise"])),
        MetadataKey(
            "waterSalinity", "HKMetadataKeyWaterSalinity", .enumeration([1: "freshWater", 2: "saltWater"])),
        MetadataKey("maximumLightIntensity", "HKMetadataKeyMaximumLightIntensity", .quantity),
        MetadataKey("foodType", "HKFoodType", .string),
        MetadataKey("averageSpeed", "HKAverageSpeed", .quantity),
        MetadataKey("maximumSpeed", "HKMaximumSpeed", .quantity),
        MetadataKey("alpineSlopeGrade", "HKAlpineSlopeGrade", .quantity),
        MetadataKey("elevationAscended", "HKElevationAscended", .quantity),
        MetadataKey("elevationDescended", "HKElevationDescended", .quantity),
        MetadataKey("weatherTemperature", "HKWeatherTemperature", .quantity),
        MetadataKey("weatherHumidity", "HKWeatherHumidity", .quantity),
        // 0 to 27. The names of the numbers are not known reliably enough to print them.
        MetadataKey("weatherCondition", "HKWeatherCondition", .number),
        MetadataKey(
            "swimmingStrokeStyle", "HKSwimmingStrokeStyle",
            .enumeration([
                0: "unknown", 1: "mixed", 2: "freestyle", 3: "backstroke", 4: "breaststroke", 5: "butterfly", 6: "kickboard",
            ])),
        MetadataKey("activityType", "HKActivityType", .number),
    ]
}
