extension Catalogue {
    /// HealthKit's category types with their lists of values and the iOS version that introduced them. Identifiers begin with
    /// `HKCategoryTypeIdentifier`.
    ///
    /// Source: the headers of Apple's SDK for macOS 26 and the tables that other languages' bindings are made of
    /// (`Tests/HealthModelTests/Facts/category-types.csv` has them row by row). The two types of iOS 27 are from Apple's documentation
    /// (https://developer.apple.com/documentation/healthkit/hkcategorytypeidentifier/menopausalstate).
    static let categories = """
        id                                 | values                           | iOS
        abdominalCramps                    | severity                         | 13.6
        acne                               | severity                         | 13.6
        appetiteChanges                    | appetiteChanges                  | 13.6
        appleStandHour                     | appleStandHour                   | 9.0
        appleWalkingSteadinessEvent        | appleWalkingSteadinessEvent      | 15.0
        audioExposureEvent                 | environmentalAudioExposureEvent audioExposureEvent | 13.0
        bladderIncontinence                | severity                         | 14.0
        bleedingAfterMenopause             | vaginalBleeding                  | 27.0
        bleedingAfterPregnancy             | vaginalBleeding                  | 18.0
        bleedingDuringPregnancy            | vaginalBleeding                  | 18.0
        bloating                           | severity                         | 13.6
        breastPain                         | severity                         | 13.6
        cervicalMucusQuality               | cervicalMucusQuality             | 9.0
        chestTightnessOrPain               | severity                         | 13.6
        chills                             | severity                         | 13.6
        constipation                       | severity                         | 13.6
        contraceptive                      | contraceptive                    | 14.3
        coughing                           | severity                         | 13.6
        diarrhea                           | severity                         | 13.6
        dizziness                          | severity                         | 13.6
        drySkin                            | severity                         | 14.0
        environmentalAudioExposureEvent    | environmentalAudioExposureEvent  | 14.0
        fainting                           | severity                         | 13.6
        fatigue                            | severity                         | 13.6
        fever                              | severity                         | 13.6
        generalizedBodyAche                | severity                         | 13.6
        hairLoss                           | severity                         | 14.0
        handwashingEvent                   | notApplicable                    | 14.0
        headache                           | severity                         | 13.6
        headphoneAudioExposureEvent        | headphoneAudioExposureEvent      | 14.2
        heartburn                          | severity                         | 13.6
        highHeartRateEvent                 | notApplicable                    | 12.2
        hotFlashes                         | severity                         | 13.6
        hypertensionEvent                  | notApplicable                    | 26.2
        infrequentMenstrualCycles          | notApplicable                    | 16.0
        intermenstrualBleeding             | notApplicable                    | 9.0
        irregularHeartRhythmEvent          | notApplicable                    | 12.2
        irregularMenstrualCycles           | notApplicable                    | 16.0
        lactation                          | notApplicable                    | 14.3
        lossOfSmell                        | severity                         | 13.6
        lossOfTaste                        | severity                         | 13.6
        lowCardioFitnessEvent              | lowCardioFitnessEvent            | 14.3
        lowHeartRateEvent                  | notApplicable                    | 12.2
        lowerBackPain                      | severity                         | 13.6
        memoryLapse                        | severity                         | 14.0
        menopausalState                    | menopausalState                  | 27.0
        menstrualFlow                      | vaginalBleeding menstrualFlow    | 9.0
        mindfulSession                     | notApplicable                    | 10.0
        moodChanges                        | presence                         | 13.6
        nausea                             | severity                         | 13.6
        nightSweats                        | severity                         | 14.0
        ovulationTestResult                | ovulationTestResult              | 9.0
        pelvicPain                         | severity                         | 13.6
        persistentIntermenstrualBleeding   | notApplicable                    | 16.0
        pregnancy                          | notApplicable                    | 14.3
        pregnancyTestResult                | pregnancyTestResult              | 15.0
        progesteroneTestResult             | progesteroneTestResult           | 15.0
        prolongedMenstrualPeriods          | notApplicable                    | 16.0
        rapidPoundingOrFlutteringHeartbeat | severity                         | 13.6
        runnyNose                          | severity                         | 13.6
        sexualActivity                     | notApplicable                    | 9.0
        shortnessOfBreath                  | severity                         | 13.6
        sinusCongestion                    | severity                         | 13.6
        skippedHeartbeat                   | severity                         | 13.6
        sleepAnalysis                      | sleepAnalysis                    | 8.0
        sleepApneaEvent                    | notApplicable                    | 18.0
        sleepChanges                       | presence                         | 13.6
        soreThroat                         | severity                         | 13.6
        toothbrushingEvent                 | notApplicable                    | 13.0
        vaginalDryness                     | severity                         | 14.0
        vomiting                           | severity                         | 13.6
        wheezing                           | severity                         | 13.6
        """

    /// The values: HealthKit's raw number and the case's name without its prefix, which is `HKCategoryValue` and the capitalised name of
    /// the list. Names after a slash are older names of the same number.
    ///
    /// Apple's documentation lists the cases of the menopausal state in this order, without their numbers. Exports contain the names.
    ///
    /// If a type has two lists, HealthKit has renamed the list. Both are read, and the first is written.
    static let categoryValues = """
        values                           | cases
        severity                         | 0=unspecified 1=notPresent 2=mild 3=moderate 4=severe
        appetiteChanges                  | 0=unspecified 1=noChange 2=decreased 3=increased
        appleStandHour                   | 0=stood 1=idle
        appleWalkingSteadinessEvent      | 1=initialLow 2=initialVeryLow 3=repeatLow 4=repeatVeryLow
        audioExposureEvent               | 1=loudEnvironment
        vaginalBleeding                  | 1=unspecified 2=light 3=medium 4=heavy 5=none
        cervicalMucusQuality             | 1=dry 2=sticky 3=creamy 4=watery 5=eggWhite
        contraceptive                    | 1=unspecified 2=implant 3=injection 4=intrauterineDevice 5=intravaginalRing 6=oral 7=patch
        environmentalAudioExposureEvent  | 1=momentaryLimit
        notApplicable                    | 0=notApplicable
        headphoneAudioExposureEvent      | 1=sevenDayLimit
        lowCardioFitnessEvent            | 1=lowFitness
        menopausalState                  | 1=menopause 2=perimenopause 3=none
        menstrualFlow                    | 1=unspecified 2=light 3=medium 4=heavy 5=none
        presence                         | 0=present 1=notPresent
        ovulationTestResult              | 1=negative 2=luteinizingHormoneSurge/positive 3=indeterminate 4=estrogenSurge
        pregnancyTestResult              | 1=negative 2=positive 3=indeterminate
        progesteroneTestResult           | 1=negative 2=positive 3=indeterminate
        sleepAnalysis                    | 0=inBed 1=asleepUnspecified/asleep 2=awake 3=asleepCore 4=asleepDeep 5=asleepREM
        """
}
