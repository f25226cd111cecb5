extension Catalogue {
    /// The types of objects that are neither quantities nor categories: kind, HealthKit's identifier, the iOS version that introduced it if
    /// known, and the list of its numbers (``objectValues``, or ``workoutActivities`` for workouts).
    ///
    /// Source: the same as for category types. HealthKit has no identifier for a day's rings, electrocardiograms and audiograms.
    /// `referencedRecord` is our own type: what health records refer to, such as the drug of a prescription.
    static let objects = """
        id                  | kind                | identifier                                             | iOS  | values
        workout             | workout             | HKWorkoutTypeIdentifier                                | -    | -
        bloodPressure       | correlation         | HKCorrelationTypeIdentifierBloodPressure               | -    | -
        food                | correlation         | HKCorrelationTypeIdentifierFood                        | -    | -
        activitySummary     | activitySummary     | -                                                      | -    | -
        workoutRoute        | workoutRoute        | HKWorkoutRouteTypeIdentifier                           | -    | -
        heartbeatSeries     | heartbeatSeries     | HKDataTypeIdentifierHeartbeatSeries                    | -    | -
        electrocardiogram   | electrocardiogram   | -                                                      | -    | HKElectrocardiogramClassification
        audiogram           | audiogram           | -                                                      | -    | -
        visionPrescription  | visionPrescription  | HKVisionPrescriptionTypeIdentifier                     | -    | HKVisionPrescriptionType
        stateOfMind         | stateOfMind         | HKDataTypeIdentifierStateOfMind                        | -    | -
        medicationDoseEvent | medicationDoseEvent | HKMedicationDoseEventTypeIdentifierMedicationDoseEvent | -    | HKMedicationDoseEventLogStatus
        gad7                | scoredAssessment    | HKScoredAssessmentTypeIdentifierGAD7                   | -    | -
        phq9                | scoredAssessment    | HKScoredAssessmentTypeIdentifierPHQ9                   | -    | -
        allergyRecord       | clinicalRecord      | HKClinicalTypeIdentifierAllergyRecord                  | 12.0 | -
        conditionRecord     | clinicalRecord      | HKClinicalTypeIdentifierConditionRecord                | 12.0 | -
        coverageRecord      | clinicalRecord      | HKClinicalTypeIdentifierCoverageRecord                 | 14.0 | -
        immunizationRecord  | clinicalRecord      | HKClinicalTypeIdentifierImmunizationRecord             | 12.0 | -
        labResultRecord     | clinicalRecord      | HKClinicalTypeIdentifierLabResultRecord                | 12.0 | -
        medicationRecord    | clinicalRecord      | HKClinicalTypeIdentifierMedicationRecord               | 12.0 | -
        procedureRecord     | clinicalRecord      | HKClinicalTypeIdentifierProcedureRecord                | 12.0 | -
        vitalSignRecord     | clinicalRecord      | HKClinicalTypeIdentifierVitalSignRecord                | 12.0 | -
        clinicalNoteRecord  | clinicalRecord      | HKClinicalTypeIdentifierClinicalNoteRecord             | 16.4 | -
        referencedRecord    | clinicalRecord      | -                                                      | -    | -
        cda                 | document            | HKDocumentTypeIdentifierCDA                            | -    | -
        """

    /// The activities of workouts (`HKWorkoutActivityType…`). No source has 81. (`Tests/HealthModelTests/Facts/workout-activity-types.csv`
    /// has them row by row.)
    static let workoutActivities = """
        1=americanFootball 2=archery 3=australianFootball 4=badminton 5=baseball 6=basketball 7=bowling 8=boxing 9=climbing \
        10=cricket 11=crossTraining 12=curling 13=cycling 14=dance 15=danceInspiredTraining 16=elliptical 17=equestrianSports \
        18=fencing 19=fishing 20=functionalStrengthTraining 21=golf 22=gymnastics 23=handball 24=hiking 25=hockey 26=hunting \
        27=lacrosse 28=martialArts 29=mindAndBody 30=mixedMetabolicCardioTraining 31=paddleSports 32=play \
        33=preparationAndRecovery 34=racquetball 35=rowing 36=rugby 37=running 38=sailing 39=skatingSports 40=snowSports \
        41=soccer 42=softball 43=squash 44=stairClimbing 45=surfingSports 46=swimming 47=tableTennis 48=tennis 49=trackAndField \
        50=traditionalStrengthTraining 51=volleyball 52=walking 53=waterFitness 54=waterPolo 55=waterSports 56=wrestling 57=yoga \
        58=barre 59=coreTraining 60=crossCountrySkiing 61=downhillSkiing 62=flexibility 63=highIntensityIntervalTraining \
        64=jumpRope 65=kickboxing 66=pilates 67=snowboarding 68=stairs 69=stepTraining 70=wheelchairWalkPace \
        71=wheelchairRunPace 72=taiChi 73=mixedCardio 74=handCycling 75=discSports 76=fitnessGaming 77=cardioDance \
        78=socialDance 79=pickleball 80=cooldown 82=swimBikeRun 83=transition 84=underwaterDiving 3000=other
        """

    /// The events during a workout (`HKWorkoutEventType…`).
    static let workoutEvents = """
        1=pause 2=resume 3=lap 4=marker 5=motionPaused 6=motionResumed 7=segment 8=pauseOrResumeRequest
        """
}
