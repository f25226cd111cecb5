"""A whole export of Apple's Health app, made up: records, categories, workouts with routes, clinical records. Used by generate.py."""

import datetime
import io
import json
import random
import zipfile

SEED = 20261124
START = datetime.datetime(2020, 1, 1)
POINTS = 1000
FOLDER = "apple_health_export/"

# Stages of sleep and what else is a case of a list.
STAGES = ["AsleepCore", "AsleepDeep", "AsleepREM", "Awake", "InBed"]
SPORTS = ["Running", "Walking", "Cycling", "Hiking"]


def text(moment):
    return moment.strftime("%Y-%m-%d %H:%M:%S +0000")


def categories(count):
    generator = random.Random(SEED)
    for index in range(count):
        start = START + datetime.timedelta(minutes=20 * index)
        end = start + datetime.timedelta(minutes=5 + int(generator.random() * 15))
        stage = STAGES[int(generator.random() * len(STAGES))]
        yield (
            f' <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Watch" sourceVersion="11.1" creationDate="{text(end)}"'
            f' startDate="{text(start)}" endDate="{text(end)}" value="HKCategoryValueSleepAnalysis{stage}"/>\n')


def workouts(count):
    generator = random.Random(SEED + 1)
    for index in range(count):
        start = START + datetime.timedelta(hours=2 * index)
        end = start + datetime.timedelta(seconds=POINTS)
        pause, resume = start + datetime.timedelta(seconds=300), start + datetime.timedelta(seconds=360)
        energy, distance = 150 + generator.random() * 300, 2 + generator.random() * 9
        head = f'sourceName="Watch" sourceVersion="11.1" creationDate="{text(end)}" startDate="{text(start)}" endDate="{text(end)}"'
        figures = f'startDate="{text(start)}" endDate="{text(end)}"'
        yield (
            f' <Workout workoutActivityType="HKWorkoutActivityType{SPORTS[index % len(SPORTS)]}" duration="{(POINTS - 60) / 60:.4f}"'
            f' durationUnit="min" {head}>\n'
            '  <MetadataEntry key="HKIndoorWorkout" value="0"/>\n'
            f'  <WorkoutEvent type="HKWorkoutEventTypePause" date="{text(pause)}"/>\n'
            f'  <WorkoutEvent type="HKWorkoutEventTypeResume" date="{text(resume)}"/>\n'
            f'  <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" {figures} sum="{energy:.3f}" unit="kcal"/>\n'
            f'  <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" {figures} sum="{distance:.5f}" unit="km"/>\n'
            f'  <WorkoutRoute {head}>\n   <FileReference path="/workout-routes/{route_name(index)}"/>\n  </WorkoutRoute>\n'
            ' </Workout>\n')


def route_name(index):
    return f"route_{index:06}.gpx"


def routes(count):
    """The octets of each route's GPX: one of a few walks, at the workout's time."""
    walks = [walk(seed) for seed in range(8)]
    for index in range(count):
        start = START + datetime.timedelta(hours=2 * index)
        lines = io.StringIO()
        lines.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="Apple Health Export"'
            ' xmlns="http://www.topografix.com/GPX/1/1">\n <trk>\n'
            f"  <name>Route {start:%Y-%m-%d}</name>\n  <trkseg>\n")
        for second, (before, behind) in enumerate(walks[index % len(walks)]):
            moment = start + datetime.timedelta(seconds=second)
            lines.write(f"{before}{moment.year}-{moment.month:02}-{moment.day:02}T{moment.hour:02}:{moment.minute:02}:{moment.second:02}Z{behind}")
        lines.write("  </trkseg>\n </trk>\n</gpx>\n")
        yield lines.getvalue().encode()


def walk(seed):
    """What stands before and behind the time of each point."""
    generator = random.Random(SEED + seed)
    latitude, longitude, altitude, course, speed = 51.44, -2.6, 25.5, 120.0, 3.1
    points = []
    for _ in range(POINTS):
        latitude += (generator.random() - 0.5) * 8e-5
        longitude += (generator.random() - 0.5) * 8e-5
        altitude += generator.random() - 0.5
        course, speed = (course + generator.random() * 20 - 10) % 360, max(0, speed + generator.random() - 0.5)
        points.append((
            f'   <trkpt lon="{longitude:.6f}" lat="{latitude:.6f}"><ele>{altitude:.6f}</ele><time>',
            f"</time><extensions><speed>{speed:.6f}</speed><course>{course:.6f}</course><hAcc>{2 + generator.random():.6f}</hAcc>"
            f"<vAcc>{2 + generator.random():.6f}</vAcc></extensions></trkpt>\n"))
    return points


def observation(index):
    """One FHIR R4 Observation as a laboratory sends it."""
    day = START + datetime.timedelta(hours=3 * index)
    return {
        "resourceType": "Observation", "id": f"obs-{index}", "meta": {"lastUpdated": f"{day:%Y-%m-%dT%H:%M:%SZ}"}, "status": "final",
        "category": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "laboratory"}]}],
        "code": {"coding": [{"system": "http://loinc.org", "code": "2345-7", "display": "Glucose [Mass/volume] in Serum or Plasma"}], "text": "Glucose"},
        "subject": {"reference": "Patient/p1"}, "effectiveDateTime": f"{day:%Y-%m-%d}", "issued": f"{day:%Y-%m-%dT%H:%M:%SZ}",
        "valueQuantity": {"value": 70 + index % 60, "unit": "mg/dL", "system": "http://unitsofmeasure.org", "code": "mg/dL"},
    }


def clinical(count):
    for index in range(count):
        yield (
            f' <ClinicalRecord type="Observation" identifier="obs-{index}" sourceName="Hospital" sourceURL="https://fhir.example.org/r4"'
            f' fhirVersion="4.0.1" receivedDate="2025-12-31 09:00:00 +0000" resourceFilePath="/clinical-records/Observation-{index}.json"/>\n')


def write(path, records, count):
    """An archive of `count` records: those that `records` yields, a head and a tail around them, and what else an export has in proportion."""
    categories_count, workout_count, resource_count = count // 10, count // 50, count // 500
    head, *body, tail = records
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(zipfile.ZipInfo(FOLDER + "export.xml", (2026, 1, 1, 9, 0, 0)), "w") as file:
            pending = []
            for part in (part for parts in ([head], body, categories(categories_count), workouts(workout_count), clinical(resource_count), [tail]) for part in parts):
                pending.append(part)
                if len(pending) == 4096:
                    file.write("".join(pending).encode())
                    pending.clear()
            file.write("".join(pending).encode())
        for index, octets in enumerate(routes(workout_count)):
            archive.writestr(f"{FOLDER}workout-routes/{route_name(index)}", octets)
        for index in range(resource_count):
            archive.writestr(f"{FOLDER}clinical-records/Observation-{index}.json", json.dumps(observation(index)))
    return categories_count, workout_count, resource_count
