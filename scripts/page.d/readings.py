"""Made-up readings of the last two weeks, for the picture of Today and for the views that a household sees."""

import datetime
import json
import math
import zipfile

BERLIN = datetime.timezone(datetime.timedelta(hours=1))
DAYS = 15


def rows(now):
    """Rows of CSV: steps and energy by the hour, weight each morning, pulse, glucose, and temperature."""
    rows = []

    def add(time, kind, value, unit, minutes=0):
        if time + datetime.timedelta(minutes=minutes) <= now:
            end = (time + datetime.timedelta(minutes=minutes)).isoformat() if minutes else ""
            rows.append(f"{time.isoformat()},{kind},{value},{unit},{end}")

    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for day in range(DAYS):
        start = midnight - datetime.timedelta(days=DAYS - 1 - day)
        at = lambda hour, minute=0, start=start: start + datetime.timedelta(hours=hour, minutes=minute)  # noqa: E731
        for hour in range(7, 22):
            add(at(hour), "stepCount", 300 + (day * 37 + hour * 91) % 700, "1", 50)
            add(at(hour), "activeEnergyBurned", 18 + (day * 7 + hour * 5) % 30, "kcal", 50)
            add(at(hour), "distanceWalkingRunning", 220 + (day * 31 + hour * 67) % 500, "m", 50)
        for quarter in range(0, 96):
            add(at(0, 15 * quarter), "heartRate", round(58 + 14 * math.sin(quarter / 15) ** 2 + (day * 7 + quarter * 13) % 9), "/min")
            add(at(0, 15 * quarter), "bloodGlucose", round(104 + 26 * math.sin(quarter / 9 + day) + (quarter * 5) % 7), "mg/dL")
        add(at(6, 50), "restingHeartRate", 54 + day % 4, "/min")
        add(at(7, 5), "bodyMass", round(75.4 - 3.2 * math.sin(day / 60) + (day * 3 % 5) / 10, 1), "kg")
        add(at(7, 10), "bodyTemperature", round(36.4 + (day * 3 % 5) / 10, 1), "Cel")
    return "time,type,value,unit,end\n" + "\n".join(rows) + "\n"


def pressures(now):
    """The file of a cuff's app: a pressure each morning."""
    found = ["Date,Time,Systolic (mmHg),Diastolic (mmHg),Pulse (bpm),Symptoms,Consumed,TruRead,Notes"]
    for day in range(DAYS):
        at = (now - datetime.timedelta(days=DAYS - 1 - day)).replace(hour=7, minute=15)
        if at <= now:
            found.append(f"{at:%b %d %Y,%H:%M},{121 + day * 5 % 9},{77 + day * 3 % 6},{58 + day % 5},-,-,-,-")
    return "\n".join(found) + "\n"


def lines(now):
    """Lines of NDJSON: nights with stages, doses, a mood, a questionnaire, and glasses."""
    found = []

    def add(kind, start, end=None, **fields):
        if (end or start) <= now:
            found.append(json.dumps({"type": kind, "start": start.isoformat(), "end": (end or start).isoformat(), **fields}))

    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    watch = {"source": {"id": "watch", "name": "Watch"}}
    for day in range(DAYS):
        today = midnight - datetime.timedelta(days=DAYS - 1 - day)
        at = today - datetime.timedelta(minutes=75 - day * 11 % 50)
        for index, stage in enumerate(["Core", "Deep", "Core", "REM", "Core", "Deep", "Core", "REM", "Core", "awake", "REM", "Core"]):
            end = at + datetime.timedelta(minutes=12 if stage == "awake" else 25 + (day * 7 + index * 11) % 30)
            add("sleepAnalysis", at, end, case=stage if stage == "awake" else "asleep" + stage, **watch)
            at = end
        for hour, name in [(8, "Ramipril"), (20, "Metformin")]:
            status = "skipped" if (day + hour) % 9 == 0 else "taken"
            add("medicationDoseEvent", today + datetime.timedelta(hours=hour), status=status, medication=name, dose={"value": 1}, doseUnit="tablet", scheduleType="schedule")
    add("stateOfMind", midnight - datetime.timedelta(hours=5), valence=0.7, stateOfMindKind="dailyMood", labels=["calm", "content"])
    add("gad7", midnight - datetime.timedelta(days=3), risk="noneToMinimal",
        answers=["severalDays", "notAtAll", "severalDays", "notAtAll", "moreThanHalfTheDays", "notAtAll", "notAtAll"])
    add("visionPrescription", midnight - datetime.timedelta(days=9), prescription="glasses", leftEye={"sphere": {"value": -1.5, "unit": "[diop]"}})
    return "\n".join(found) + "\n"


def archive(now, path):
    """An export of the Health app: a run with its route, an electrocardiogram, a hearing test, laboratory values, and facts of a person."""
    start = now.replace(hour=9, minute=0, second=0, microsecond=0) - datetime.timedelta(days=2)
    stamp = lambda minutes=0: (start + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%d %H:%M:%S %z")  # noqa: E731
    ears = "".join(f'<SensitivityPoint frequencyValue="{hertz}" frequencyUnit="Hz" leftEarValue="{left}" leftEarUnit="dBHL" rightEarValue="{right}" rightEarUnit="dBHL"/>'
                   for hertz, left, right in [(250, 5, 10), (500, 10, 5), (1000, 10, 15), (2000, 15, 20), (4000, 20, 35), (8000, 25, 45)])
    records = "".join(f'<ClinicalRecord type="LabResult" identifier="lab-{index}" sourceName="Clinic" sourceURL="https://fhir.example/r4" fhirVersion="4.0.1"'
                      f' receivedDate="{stamp()}" resourceFilePath="/clinical-records/lab-{index}.json"/>' for index in range(3))
    laps = "".join(f'<WorkoutEvent type="HKWorkoutEventTypeLap" date="{stamp(lap * 10)}" duration="10" durationUnit="min"/>' for lap in range(4))
    export = (f'<?xml version="1.0" encoding="UTF-8"?><HealthData locale="en_GB"><ExportDate value="{stamp(60)}"/>'
              '<Me HKCharacteristicTypeIdentifierDateOfBirth="1985-04-12" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"'
              ' HKCharacteristicTypeIdentifierBloodType="HKBloodTypeAPositive"/>'
              f'<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="40" durationUnit="min" sourceName="Watch" startDate="{stamp()}" endDate="{stamp(40)}">'
              f'{laps}<WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" sum="7.81" unit="km"/>'
              f'<WorkoutRoute sourceName="Watch" startDate="{stamp()}" endDate="{stamp(39)}"><FileReference path="/workout-routes/run.gpx"/></WorkoutRoute></Workout>'
              f'<Audiogram type="HKDataTypeIdentifierAudiogram" sourceName="Ear" startDate="{stamp()}" endDate="{stamp(5)}">{ears}</Audiogram>{records}</HealthData>')
    points = "".join(f'<trkpt lat="{52.51 + minute / 1900:.5f}" lon="{13.37 + minute * minute / 60000:.5f}"><ele>{34 + 9 * math.sin(minute / 6):.1f}</ele>'
                     f"<time>{(start + datetime.timedelta(minutes=minute)).astimezone(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}</time></trkpt>" for minute in range(40))
    beats = "\n".join(f"{900 * math.exp(-((tick % 430 - 200) / 9) ** 2) + 140 * math.exp(-((tick % 430 - 290) / 30) ** 2) + 12 * math.sin(tick / 5):.1f}" for tick in range(512 * 30))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("apple_health_export/export.xml", export)
        file.writestr("apple_health_export/workout-routes/run.gpx",
                      f'<gpx version="1.1" creator="readings" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>')
        file.writestr("apple_health_export/electrocardiograms/ecg.csv",
                      f'Name,Nobody\nRecorded Date,{stamp(50)}\nClassification,Sinus Rhythm\nSymptoms,None\nSoftware Version,2.0\nDevice,"Watch7,12"\n'
                      f"Sample Rate,512.000 Hz\nLead,Lead I\nUnit,µV\n\n{beats}\n")
        for index, value in enumerate([5.4, 5.6, 6.1]):
            day = (start - datetime.timedelta(days=90 * (2 - index))).date()
            file.writestr(f"apple_health_export/clinical-records/lab-{index}.json", json.dumps({
                "resourceType": "Observation", "id": f"lab-{index}", "status": "final",
                "category": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "laboratory"}]}], "code": {"coding": [{"system": "http://loinc.org", "code": "4548-4"}], "text": "HbA1c"},
                "effectiveDateTime": str(day), "valueQuantity": {"value": value, "unit": "%", "system": "http://unitsofmeasure.org", "code": "%"},
                "referenceRange": [{"low": {"value": 4, "unit": "%"}, "high": {"value": 5.6, "unit": "%"}}]}))
    return str(path)
