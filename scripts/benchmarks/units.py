#!/usr/bin/env python3
"""Writes series of readings as people have them, some with a stretch in a wrong unit, and counts what was found: the same each time.

Usage: scripts/benchmarks/units.py SERIES FILE LABELS

Half of the series are right, half have one stretch of five readings or more (every second of five to twelve) whose numbers are in one
unit and are said to be in another. Each series is a person's of its own. The kinds are those of
Tests/HealthModelTests/Repair/LabelledSeries.swift: fevers to 40.6 °C, a newborn's first weeks, hypos to 32 mg/dL and highs to 480,
crises of blood pressure, COPD, diets and weeks of travel. Weights have right readings on one side of the stretch at least.
FILE is a generic CSV, LABELS a line of JSON for each series.
"""

import datetime
import json
import random
import sys
import uuid

SEED = 20261121
EPOCH = datetime.datetime(2015, 1, 1)
FACTOR = {"kg": 1, "[lb_av]": 0.45359237, "[stone_av]": 6.35029318, "mg/dL": 1, "mmol/L": 18.015588, "mm[Hg]": 1, "kPa": 7.500615758,
          "%": 1, "1": 100}
KINDS = {  # type, units, digits, whether the values alone tell the unit
    "thermometer": ("bodyTemperature", ["Cel", "[degF]"], 1, True),
    "adult": ("bodyMass", ["kg", "[lb_av]", "[stone_av]"], 1, False),
    "newborn": ("bodyMass", ["kg"], 2, None),
    "finger": ("bloodGlucose", ["mg/dL", "mmol/L"], 1, True),
    "pressure": ("bloodPressureSystolic", ["mm[Hg]", "kPa"], 1, True),
    "saturation": ("oxygenSaturation", ["%", "1"], 3, True),
    "fat": ("bodyFatPercentage", ["%", "1"], 3, True),
}
LIMIT = {"bodyTemperature": 150, "bodyMass": 2000, "bloodGlucose": 3000, "bloodPressureSystolic": 500, "oxygenSaturation": 100,
         "bodyFatPercentage": 100}


def life(kind, r):
    """True values in the catalogue's unit, by day."""
    day, values = 0.0, []
    if kind == "thermometer":
        base = r.uniform(36.2, 37.0)
        for _ in range(r.randint(20, 120)):
            if r.random() < 0.03:
                peak = r.uniform(38, 40.6)
                values += [(day + hour / 4, peak - 0.2 * (hour % 4) + r.gauss(0, 0.2)) for hour in range(r.randint(4, 20))]
                day += 6
            values.append((day, base + r.gauss(0, 0.25)))
            day += r.uniform(30, 200) if r.random() < 0.02 else r.uniform(0.5, 3)
    elif kind == "adult":
        weight = r.uniform(42, 150)
        trend = r.uniform(-0.0015, 0.001) if r.random() < 0.2 else 0
        for _ in range(r.randint(30, 300)):
            step = r.uniform(14, 120) if r.random() < 0.02 else r.uniform(0.4, 2.5)
            day += step
            weight = min(230, max(38, weight * (1 + trend * step + r.gauss(0, 0.002))))
            values.append((day, weight + (r.uniform(0.5, 2.5) if r.random() < 0.05 else 0) + r.gauss(0, 0.4)))
    elif kind == "newborn":
        weight = r.uniform(2.0, 4.6)
        for index in range(r.randint(8, 60)):
            weight *= 0.985 if index < 4 else 1.008
            values.append((index, weight + r.gauss(0, 0.02)))
    elif kind == "finger":
        diabetic = r.random() < 0.6
        for _ in range(r.randint(20, 300)):
            day += r.uniform(0.1, 0.5 if diabetic else 4)
            lot = r.random()
            value = 98 + r.gauss(0, 14)
            if diabetic:
                value = r.uniform(32, 62) if lot < 0.06 else r.uniform(280, 480) if lot < 0.11 else 155 + r.gauss(0, 45)
            values.append((day, max(32, value)))
    elif kind == "pressure":
        level, crisis = r.uniform(95, 165), r.randint(5, 15) if r.random() < 0.1 else -10
        for index in range(r.randint(20, 200)):
            values.append((index + r.uniform(0, 0.9), level + (55 if crisis <= index < crisis + 4 else 0) + r.gauss(0, 8)))
    elif kind == "saturation":
        level = r.uniform(80, 90) if r.random() < 0.2 else r.uniform(94, 98.5)
        values = [(index + r.uniform(0, 0.9), min(100, max(62, level + r.gauss(0, 1.2)))) for index in range(r.randint(20, 200))]
    else:
        level = r.uniform(8, 45)
        for index in range(r.randint(25, 300)):
            level = min(60, max(4, level * (1 + r.gauss(0, 0.004))))
            values.append((index, level * (1 + r.gauss(0, 0.015))))
    return values


def converted(value, source, target):
    if source == target:
        return value
    if "[degF]" in (source, target):
        return value * 1.8 + 32 if target == "[degF]" else (value - 32) / 1.8
    return value * FACTOR[source] / FACTOR[target]


def series(r, wrong):
    """A person's readings, and where which unit is wrong; nothing where the gate would hold one back."""
    kind = r.choice([kind for kind in KINDS if not wrong or KINDS[kind][3] is not None])
    name, units, digits, plain = KINDS[kind]
    values = life(kind, r)
    unit = r.choice(units) if r.random() < 0.5 else units[0]
    first = length = 0
    other = unit
    if wrong:
        length = r.randint(5, 12) if r.random() < 0.5 else r.randint(5, max(5, len(values) if plain else len(values) - 12))
        if length > len(values):
            return None
        first = r.randint(0, len(values) - length)
        if not plain and first < 12 and len(values) - first - length < 12:
            return None
        other = r.choice([code for code in units if code != unit])
    rows = []
    for index, (day, value) in enumerate(values):
        real = other if first <= index < first + length else unit
        number = round(converted(value, units[0], real), 0 if real == "mg/dL" else digits)
        if not 0 <= converted(number, unit, units[0]) <= LIMIT[name]:
            return None
        time = (EPOCH + datetime.timedelta(seconds=int(day * 86400))).isoformat()
        rows.append((time, name, f"{number:g}", unit))
    label = {"type": name, "kind": kind}
    if wrong:
        label |= {"from": rows[first][0], "to": rows[first + length - 1][0], "samples": length, "fits": other}
    return rows, label


def write(count, file, labels):
    r = random.Random(SEED)
    with open(file, "w", encoding="utf-8") as table, open(labels, "w", encoding="utf-8") as notes:
        table.write("time,type,value,unit,subject\n")
        made = 0
        while made < count:
            found = series(r, made % 2 == 1)
            if found is None:
                continue
            rows, label = found
            subject = str(uuid.UUID(int=r.getrandbits(128), version=4))
            made += 1
            table.writelines(f"{time}Z,{name},{value},{unit},{subject}\n" for time, name, value, unit in rows)
            notes.write(json.dumps(label | {"subject": subject}) + "\n")


def score(labels, suggestions):
    """(false alarms, clean series, stretches found, stretches): found is four fifths of it, in the right unit, and little else."""
    by_subject = {}
    for suggestion in suggestions:
        by_subject.setdefault(suggestion["subject"], []).append(suggestion)
    alarms = clean = found = wrong = 0
    for label in labels:
        own = by_subject.get(label["subject"], [])
        if "fits" not in label:
            clean += 1
            alarms += bool(own)
            continue
        wrong += 1
        fitting = [s for s in own if s["fits"] == label["fits"]]
        inside = [s for s in fitting if s["from"][:19] <= label["to"] and s["to"][:19] >= label["from"]]
        told = sum(s["samples"] for s in inside)
        outside = any(s["from"][:19] < label["from"] or s["to"][:19] > label["to"] for s in inside)
        limit = 1.2 if outside else 1
        found += 0.8 * label["samples"] <= told <= max(limit * label["samples"], label["samples"] + 1)
    return alarms, clean, found, wrong


if __name__ == "__main__":
    write(int(sys.argv[1]), sys.argv[2], sys.argv[3])
