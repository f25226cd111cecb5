#!/usr/bin/env python3
"""Writes the input of the benchmarks and of the kill test: the same bytes each time.

Usage: scripts/benchmarks/generate.py mixed|year|span|recent|first-path|second-path|other-path|apple|zip|whole|resources COUNT FILE

  mixed  COUNT rows of time,type,value,unit: heart rate once a second; oxygen saturation, temperature and steps between
  year   COUNT rows of heart rate, spread over the year 2025
  span   COUNT rows of twenty series: half of them heart rates once a second, some hours on each day of 2025; the others over five years, among them
         steps of three sources
  recent span, moved so that its last day is today
  first-path, second-path, other-path
         mixed as a sensor tells it; the same over its maker's file; and another half day's over the file
  apple  an Apple Health export.xml of COUNT records, about 400 bytes each, one in ten with a metadata entry
  zip    the same in the archive that the Health app makes
  whole  the same with a tenth as many categories, a fiftieth as many workouts with a route of 1,000 points each, and a five-hundredth as many
         clinical records
  resources
         COUNT FHIR R4 Observations, laboratory results of about 1,000 bytes, one a line
"""

import datetime
import json
import random
import sys
import zipfile

import whole

SEED = 20261120
EPOCH = datetime.datetime(2025, 1, 1)
YEAR = 365 * 86400
CLOCK = [f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" for second in range(86400)]


class Calendar:
    """Seconds since EPOCH as text. The date is kept, since neighbours share it."""

    def __init__(self, epoch=EPOCH):
        self.epoch, self.day, self.date = epoch, -1, ""

    def text(self, second, separator):
        day = second // 86400
        if day != self.day:
            self.day, self.date = day, (self.epoch + datetime.timedelta(days=day)).date().isoformat()
        return f"{self.date}{separator}{CLOCK[second % 86400]}"


def pulses(generator):
    """A walk between 45 and 180, one whole number a step."""
    rate = 70
    while True:
        rate = min(180, max(45, rate + int(generator.random() * 5) - 2))
        yield rate


def mixed():
    generator, calendar = random.Random(SEED), Calendar()
    second = 0
    for rate in pulses(generator):
        time = calendar.text(second, "T") + "Z"
        yield f"{time},heartRate,{rate},/min\n"
        if second % 10 == 0:
            yield f"{time},oxygenSaturation,{94 + int(generator.random() * 6)},%\n"
        if second % 60 == 0:
            yield f"{time},bodyTemperature,{36.2 + generator.random():.2f},Cel\n"
            yield f"{time},stepCount,{1 + int(generator.random() * 120)},1\n"
        second += 1


PATHS = {"first-path": ("Sensor,Withings sensor", 0), "second-path": ("Withings app,", 0), "other-path": ("Withings app,", 43_200)}


def path_rows(kind, count):
    """The rows of `mixed` with the path they came over."""
    origin, shift = PATHS[kind]
    calendar = Calendar()
    for _, row in zip(range(count), mixed()):
        time, rest = row.rstrip("\n").split(",", 1)
        if shift:
            second = int((datetime.datetime.fromisoformat(time[:-1]) - EPOCH).total_seconds()) + shift
            time = calendar.text(second, "T") + "Z"
        yield f"{time},{rest},{origin}\n"


def year(count):
    calendar = Calendar()
    for index, rate in zip(range(count), pulses(random.Random(SEED))):
        yield f"{calendar.text(index * YEAR // count, 'T')}Z,heartRate,{rate},/min\n"


# Beside the heart rates: type, unit, lowest value, how far above it they go, seconds that each lasts, source.
SPAN = [
    ("stepCount", "1", 1, 600, 600, "Watch"), ("stepCount", "1", 1, 600, 600, "iPhone"), ("stepCount", "1", 1, 600, 300, "Clip"),
    ("activeEnergyBurned", "kcal", 1, 60, 600, "Watch"), ("basalEnergyBurned", "kcal", 8, 10, 600, "Watch"),
    ("distanceWalkingRunning", "m", 1, 900, 600, "Watch"), ("appleExerciseTime", "min", 1, 9, 600, "Watch"),
    ("oxygenSaturation", "%", 94, 6, 0, "Watch"), ("bodyTemperature", "Cel", 36, 2, 0, "Patch"), ("bloodGlucose", "mg/dL", 60, 140, 0, "CGM"),
    ("restingHeartRate", "/min", 50, 20, 0, "Watch"), ("respiratoryRate", "/min", 10, 10, 0, "Watch"), ("bodyMass", "kg", 78, 4, 0, "Scale"),
    ("heartRateVariabilitySDNN", "ms", 20, 80, 0, "Watch"), ("environmentalAudioExposure", "dB[SPL]", 40, 50, 600, "Watch"),
    ("walkingSpeed", "m/s", 1, 1, 60, "iPhone"), ("bodyFatPercentage", "%", 18, 6, 0, "Scale"), ("dietaryWater", "mL", 50, 400, 0, "iPhone"),
    ("vo2Max", "mL/kg/min", 35, 10, 0, "Watch"),
]


def span(count, epoch=EPOCH):
    generator, calendar = random.Random(SEED), Calendar(epoch)
    seconds = count // 2
    for index, rate in zip(range(seconds), pulses(generator)):
        day, second = index * 365 // seconds, index - -(-(index * 365 // seconds) * seconds // 365)
        yield f"{calendar.text(day * 86400 + 7 * 3600 + second, 'T')}Z,heartRate,{rate},/min,,Strap\n"
    rest = count - seconds
    for number, (kind, unit, low, extent, length, source) in enumerate(SPAN):
        own = rest * (number + 1) // len(SPAN) - rest * number // len(SPAN)
        for index in range(own):
            start = (index - own) * 5 * YEAR // own + YEAR + number
            value = low + int(generator.random() * extent * 10) / 10
            end = f"{calendar.text(start + length, 'T')}Z" if length else ""
            yield f"{calendar.text(start, 'T')}Z,{kind},{value:.1f},{unit},{end},{source}\n"


HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!-- HealthKit Export Version: 14 -->
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary)*)>
<!ATTLIST HealthData locale CDATA #REQUIRED>
<!ELEMENT ExportDate EMPTY>
<!ATTLIST ExportDate value CDATA #REQUIRED>
]>
<HealthData locale="en_GB">
 <ExportDate value="2026-01-01 09:00:00 +0000"/>
 <Me HKCharacteristicTypeIdentifierDateOfBirth="1985-04-02" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexNotSet"/>
"""
TAIL = "</HealthData>\n"


def device(address, name, maker, model, hardware, software):
    described = f"name:{name}, manufacturer:{maker}, model:{model}, hardware:{hardware}, software:{software}"
    return f'device="&lt;&lt;HKDevice: 0x{address:x}&gt;, {described}&gt;"'


def sources():
    """Origins of records. A device's text holds an address, which differs between the days it was written."""
    for index in range(6):
        address = 0x2803D9810 + index * 0x2440
        yield "watch", 'sourceName="Robin’s Apple Watch" sourceVersion="11.{0}" {1}'.format(
            index, device(address, "Apple Watch", "Apple Inc.", "Watch", "Watch7,1", f"11.{index}"))
        yield "phone", 'sourceName="Robin’s iPhone" sourceVersion="18.{0}" {1}'.format(
            index, device(address + 64, "iPhone", "Apple Inc.", "iPhone", "iPhone15,2", f"18.{index}"))
    yield "strap", 'sourceName="Chest Strap" sourceVersion="3.0.35" ' + device(
        0x281F00A40, "H10 8A2B1C", "Polar Electro Oy", "H10", "00760690.03", "3.1.1")


# Of a hundred records: how many, type, unit, source, seconds it lasts, lowest value, range, digits, metadata.
MIX = [
    (46, "HeartRate", "count/min", "watch", 0, 48, 90, 0, ("HKMetadataKeyHeartRateMotionContext", "1")),
    (6, "HeartRate", "count/min", "strap", 0, 60, 120, 0, None),
    (16, "ActiveEnergyBurned", "kcal", "watch", 61, 0.05, 4, 3, None),
    (10, "BasalEnergyBurned", "kcal", "watch", 600, 10, 3, 3, None),
    (10, "StepCount", "count", "phone", 300, 4, 500, 0, None),
    (8, "DistanceWalkingRunning", "km", "phone", 300, 0.002, 0.4, 5, None),
    (2, "OxygenSaturation", "%", "watch", 0, 0.93, 0.07, 2, ("HKMetadataKeyBarometricPressure", "101325 Pa")),
    (2, "RespiratoryRate", "count/min", "watch", 0, 11, 8, 1, ("HKMetadataKeyDeviceManufacturerName", "Apple Inc.")),
]


def apple(count):
    generator, calendar = random.Random(SEED), Calendar()
    by_kind = {}
    for kind, text in sources():
        by_kind.setdefault(kind, []).append(text)
    deck = [kind for kind in MIX for _ in range(kind[0])]
    yield HEAD
    for index in range(count):
        _, name, unit, source, length, lowest, spread, digits, metadata = deck[int(generator.random() * len(deck))]
        origins = by_kind[source]
        second = index * 25
        value = f"{lowest + generator.random() * spread:.{digits}f}"
        start, end, created = (calendar.text(second + later, " ") + " +0000" for later in (0, length, length + 9))
        yield (
            f' <Record type="HKQuantityTypeIdentifier{name}" {origins[index // 5000 % len(origins)]} unit="{unit}"'
            f' creationDate="{created}" startDate="{start}" endDate="{end}" value="{value}"')
        if metadata and generator.random() < 0.2:
            yield f'>\n  <MetadataEntry key="{metadata[0]}" value="{metadata[1]}"/>\n </Record>\n'
        else:
            yield "/>\n"
    yield TAIL


def resources(count):
    """Laboratory results as bulk exports have them."""
    rng = random.Random(SEED)
    tests = [("2823-3", "Potassium", "mmol/L", 4, 1), ("2345-7", "Glucose", "mg/dL", 95, 20), ("718-7", "Hemoglobin", "g/dL", 14, 2)]
    for index in range(count):
        code, name, unit, middle, spread = tests[index % len(tests)]
        time = (EPOCH + datetime.timedelta(minutes=index)).isoformat() + "Z"
        yield json.dumps({
            "resourceType": "Observation", "id": f"obs-{index}",
            "meta": {"versionId": "1", "lastUpdated": time,
                     "profile": ["http://hl7.org/fhir/us/core/StructureDefinition/us-core-observation-lab"]},
            "status": "final",
            "category": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "laboratory",
                                      "display": "Laboratory"}]}],
            "code": {"coding": [{"system": "http://loinc.org", "code": code, "display": name}], "text": name},
            "subject": {"reference": "Patient/f0462936-eb4b-4da1-b45a-fbd96ebf8ccb"},
            "encounter": {"reference": f"Encounter/{index // 20}"}, "effectiveDateTime": time, "issued": time,
            "performer": [{"reference": "Organization/7", "display": "Laboratory of the clinic"}],
            "valueQuantity": {"value": round(rng.gauss(middle, spread), 2), "unit": unit, "system": "http://unitsofmeasure.org",
                              "code": unit},
            "referenceRange": [{"low": {"value": middle - spread, "unit": unit}, "high": {"value": middle + spread, "unit": unit}}],
        }, separators=(",", ":")) + "\n"


def write_rows(path, rows, header="time,type,value,unit\n"):
    with open(path, "w", encoding="utf-8", buffering=1 << 20) as file:
        file.write(header)
        file.writelines(rows)


def write_zip(path, count):
    entry = zipfile.ZipInfo("apple_health_export/export.xml", (2026, 1, 1, 9, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w") as archive, archive.open(entry, "w") as file:
        pending = []
        for part in apple(count):
            pending.append(part)
            if len(pending) == 4096:
                file.write("".join(pending).encode())
                pending.clear()
        file.write("".join(pending).encode())


def main(arguments):
    if len(arguments) != 3 or arguments[0] not in ("mixed", "year", "span", "recent", *PATHS, "apple", "zip", "whole", "resources"):
        print(__doc__.strip())
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 64
    kind, count, path = arguments[0], int(arguments[1]), arguments[2]
    if kind == "mixed":
        write_rows(path, (row for _, row in zip(range(count), mixed())))
    elif kind == "year":
        write_rows(path, year(count))
    elif kind == "span":
        write_rows(path, span(count), "time,type,value,unit,end,source\n")
    elif kind == "recent":
        today = datetime.datetime.combine(datetime.date.today(), datetime.time())
        write_rows(path, span(count, today - datetime.timedelta(days=364)), "time,type,value,unit,end,source\n")
    elif kind in PATHS:
        write_rows(path, path_rows(kind, count), "time,type,value,unit,source,device\n")
    elif kind == "resources":
        write_rows(path, resources(count), "")
    elif kind == "apple":
        with open(path, "w", encoding="utf-8", buffering=1 << 20) as file:
            file.writelines(apple(count))
    elif kind == "whole":
        whole.write(path, apple(count), count)
    else:
        write_zip(path, count)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
