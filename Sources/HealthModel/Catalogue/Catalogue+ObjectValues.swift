extension Catalogue {
    /// The enumerations in objects: raw numbers with their names, as in HealthKit. (`Tests/HealthModelTests/Facts/other-enums.csv` and
    /// `characteristics.csv` have them row by row.)
    static let objectValues = [
        "HKElectrocardiogramClassification": """
        0=notSet 1=sinusRhythm 2=atrialFibrillation 3=inconclusiveLowHeartRate 4=inconclusiveHighHeartRate \
        5=inconclusivePoorReading 6=inconclusiveOther 100=unrecognized
        """,
        "HKElectrocardiogramSymptomsStatus": "0=notSet 1=none 2=present",
        "HKVisionPrescriptionType": "1=glasses 2=contacts",
        "HKStateOfMindKind": "1=momentaryEmotion 2=dailyMood",
        "HKStateOfMindLabel": """
        1=amazed 2=amused 3=angry 4=anxious 5=ashamed 6=brave 7=calm 8=content 9=disappointed 10=discouraged 11=disgusted \
        12=embarrassed 13=excited 14=frustrated 15=grateful 16=guilty 17=happy 18=hopeless 19=irritated 20=jealous \
        21=joyful 22=lonely 23=passionate 24=peaceful 25=proud 26=relieved 27=sad 28=scared 29=stressed 30=surprised \
        31=worried 32=annoyed 33=confident 34=drained 35=hopeful 36=indifferent 37=overwhelmed 38=satisfied
        """,
        "HKStateOfMindAssociation": """
        1=community 2=currentEvents 3=dating 4=education 5=family 6=fitness 7=friends 8=health 9=hobbies 10=identity \
        11=money 12=partner 13=selfCare 14=spirituality 15=tasks 16=travel 17=work 18=weather
        """,
        "HKStateOfMindValenceClassification": """
        1=veryUnpleasant 2=unpleasant 3=slightlyUnpleasant 4=neutral 5=slightlyPleasant 6=pleasant 7=veryPleasant
        """,
        "HKMedicationDoseEventLogStatus": "1=notInteracted 2=notificationNotSent 3=snoozed 4=taken 5=skipped 6=notLogged",
        "HKMedicationDoseEventScheduleType": "1=asNeeded 2=schedule",
        "HKGAD7AssessmentAnswer": "0=notAtAll 1=severalDays 2=moreThanHalfTheDays 3=nearlyEveryDay",
        "HKGAD7AssessmentRisk": "1=noneToMinimal 2=mild 3=moderate 4=severe",
        "HKPHQ9AssessmentAnswer": "0=notAtAll 1=severalDays 2=moreThanHalfTheDays 3=nearlyEveryDay 4=preferNotToAnswer",
        "HKPHQ9AssessmentRisk": "1=noneToMinimal 2=mild 3=moderate 4=moderatelySevere 5=severe",
        "HKBiologicalSex": "0=notSet 1=female 2=male 3=other",
        "HKBloodType": """
        0=notSet 1=aPositive 2=aNegative 3=bPositive 4=bNegative 5=aBPositive 6=aBNegative 7=oPositive 8=oNegative
        """,
        "HKFitzpatrickSkinType": "0=notSet 1=i 2=iI 3=iII 4=iV 5=v 6=vI",
        "HKWheelchairUse": "0=notSet 1=no 2=yes",
        "HKActivityMoveMode": "1=activeEnergy 2=appleMoveTime",
    ]
}
