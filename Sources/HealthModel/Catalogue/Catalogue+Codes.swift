extension Catalogue {
    /// The codes of types in other systems, if there are any. An empty cell is unknown, never guessed.
    ///
    /// - LOINC: the observation's code, if one code fits every reading of the type.
    /// - MDC: IEEE 11073-10101, partition × 65536 + term, and its reference name.
    /// - FHIR units: the only units that FHIR R4's vital signs profiles admit for the type.
    static let codes = """
        id                             | LOINC    | MDC                                     | FHIR units
        appleSleepingWristTemperature  | 61008-9  | -                                       | -
        bloodGlucose                   | 2339-0   | 160020 MDC_CONC_GLU_GEN                 | -
        bloodPressureDiastolic         | 8462-4   | 150022 MDC_PRESS_BLD_NONINV_DIA         | mm[Hg]
        bloodPressureSystolic          | 8480-6   | 150021 MDC_PRESS_BLD_NONINV_SYS         | mm[Hg]
        bodyFatPercentage              | 41982-0  | 188748 MDC_BODY_FAT                     | -
        bodyMass                       | 29463-7  | 188736 MDC_MASS_BODY_ACTUAL             | kg g [lb_av]
        bodyMassIndex                  | 39156-5  | 188752 MDC_RATIO_MASS_BODY_LEN_SQ       | kg/m2
        bodyTemperature                | 8310-5   | 150364 MDC_TEMP_BODY                    | Cel [degF]
        cyclingCadence                 | -        | 8454255 MDC_HF_CAD                      | -
        cyclingPower                   | -        | 8454259 MDC_HF_POWER                    | -
        cyclingSpeed                   | -        | 8454254 MDC_HF_SPEED                    | -
        dietaryCarbohydrates           | 9060-5   | -                                       | -
        dietaryEnergyConsumed          | 9052-2   | -                                       | -
        dietaryFatTotal                | 9067-0   | -                                       | -
        dietaryProtein                 | 9080-3   | -                                       | -
        dietaryWater                   | 8985-4   | -                                       | -
        distanceCrossCountrySkiing     | 103208-5 | -                                       | -
        distanceCycling                | 103208-5 | 8454247 MDC_HF_DISTANCE                 | -
        distanceDownhillSnowSports     | 103208-5 | -                                       | -
        distancePaddleSports           | 103208-5 | -                                       | -
        distanceRowing                 | 103208-5 | 8454247 MDC_HF_DISTANCE                 | -
        distanceSkatingSports          | 103208-5 | -                                       | -
        distanceSwimming               | 93816-7  | -                                       | -
        distanceWalkingRunning         | 103208-5 | 8454247 MDC_HF_DISTANCE                 | -
        distanceWheelchair             | 103208-5 | -                                       | -
        flightsClimbed                 | 100304-5 | -                                       | -
        forcedExpiratoryVolume1        | 20150-9  | 152586 MDC_VOL_AWAY_EXP_FORCED_1S       | -
        forcedVitalCapacity            | 19868-9  | 188928 MDC_VOL_AWAY_EXP_FORCED_CAPACITY | -
        heartRate                      | 8867-4   | 147842 MDC_ECG_HEART_RATE               | /min
        heartRateVariabilitySDNN       | 112429-6 | -                                       | -
        height                         | 8302-2   | 188740 MDC_LEN_BODY_ACTUAL              | cm [in_i]
        leanBodyMass                   | 91557-9  | -                                       | -
        oxygenSaturation               | 2708-6   | 150456 MDC_PULS_OXIM_SAT_O2             | %
        peakExpiratoryFlowRate         | 33452-4  | 152584 MDC_FLOW_AWAY_EXP_FORCED_PEAK    | -
        peripheralPerfusionIndex       | 61006-3  | 150448 MDC_PULS_OXIM_PERF_REL           | -
        pushCount                      | 96502-0  | -                                       | -
        respiratoryRate                | 9279-1   | 151562 MDC_RESP_RATE                    | /min
        restingHeartRate               | 40443-4  | -                                       | -
        runningPower                   | -        | 8454259 MDC_HF_POWER                    | -
        runningSpeed                   | -        | 8454254 MDC_HF_SPEED                    | -
        sixMinuteWalkTestDistance      | 64098-7  | -                                       | -
        stairAscentSpeed               | 112431-2 | -                                       | -
        stairDescentSpeed              | 112430-4 | -                                       | -
        stepCount                      | 55423-8  | -                                       | -
        waistCircumference             | 8280-0   | -                                       | -
        walkingAsymmetryPercentage     | 112432-0 | -                                       | -
        walkingDoubleSupportPercentage | 112434-6 | -                                       | -
        bodyFatMass                    | 73708-0  | -                                       | -
        muscleMass                     | 73964-9  | -                                       | -
        musclePercentage               | 73965-6  | -                                       | -
        boneMass                       | 101685-6 | -                                       | -
        bodyWaterMass                  | 101683-1 | 188764 MDC_BODY_WATER                   | -
        bodyWaterPercentage            | 101684-9 | -                                       | -
        softLeanMass                   | -        | 188760 MDC_MASS_BODY_SOFT_LEAN          | -
        fatFreeMass                    | -        | 188756 MDC_MASS_BODY_FAT_FREE           | -
        bloodPressureMean              | 8478-0   | 150023 MDC_PRESS_BLD_NONINV_MEAN        | -
        heartbeatInterval              | 8637-1   | 147240 MDC_ECG_TIME_PD_RR_GL            | -
        pulseAmplitudeIndex            | -        | 150320 MDC_SAT_O2_QUAL                  | -
        roomTemperature                | 60832-3  | 188508 MDC_TEMP_ROOM                    | -
        batteryLevel                   | -        | 67996 MDC_ATTR_VAL_BATT_CHARGE          | -
        """
}
