"""Pairs of readings over two paths, each with the truth: one measurement, or two. The same pairs for the same seed.

Every pair has a day of its own. The first path tells it as a sensor does: to the second, in its own unit, up to 4 s late. The second
tells it as the maker's file does: cut to the minute (written with or without `:00`) or to the second, rounded to its digits after
conversion, in another zone. Half of the pairs are one measurement. The others are two: the next one of the same person after the type's
shortest pause, every third with the same value; another value at the same time; or another maker's device at the same time.

A quarter of the pairs is told twice by one path, the second time in another unit, as an export after the phone's unit was changed: the
same reading, another value at that time, or the next reading.
"""

import datetime
import random

EPOCH = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
# Type, lowest and highest value, unit and digits of the sensor, units and digits of files with their factor and offset, the shortest
# pause in seconds, whether files tell minutes.
KINDS = [
    ("bodyMass", 40, 120, "kg", 2, [("kg", 1, 1, 0), ("kg", 2, 1, 0), ("[lb_av]", 1, 1 / 0.45359237, 0)], 60, True),
    ("bloodPressureSystolic", 95, 180, "mm[Hg]", 0, [("mm[Hg]", 0, 1, 0), ("kPa", 1, 0.133322387415, 0)], 60, True),
    ("bodyTemperature", 35, 40, "Cel", 2, [("Cel", 1, 1, 0), ("[degF]", 1, 1.8, 32)], 60, True),
    ("bloodGlucose", 50, 300, "mg/dL", 0, [("mg/dL", 0, 1, 0), ("mmol/L", 1, 1 / 18.015588, 0)], 60, True),
    ("heartRate", 50, 170, "/min", 0, [("/min", 0, 1, 0)], 3, False),
    ("insulinDelivery", 1, 12, "[iU]", 1, [("[iU]", 1, 1, 0)], 30, False),
    ("bodyFatPercentage", 8, 40, "%", 2, [("%", 1, 1, 0)], 60, True),
]
# Type, lowest and highest value, unit and digits, the other unit, its digits, factor and offset: what one path tells in either.
RETOLD = [
    ("distanceWalkingRunning", 0.05, 12, "km", 2, "[mi_i]", 2, 1 / 1.609344, 0),
    ("activeEnergyBurned", 1, 900, "kcal", 0, "kJ", 1, 4.184, 0),
    ("bodyMass", 40, 120, "kg", 1, "[lb_av]", 1, 1 / 0.45359237, 0),
    ("bloodGlucose", 3, 16, "mmol/L", 1, "mg/dL", 0, 18.015588, 0),
    ("bodyTemperature", 35, 40, "Cel", 1, "[degF]", 1, 1.8, 32),
]
HEADER = "time,type,value,unit,source,device\n"


def stamp(seconds, zone=0, to_minute=False):
    time = (EPOCH + datetime.timedelta(seconds=seconds)).astimezone(datetime.timezone(datetime.timedelta(minutes=zone)))
    return time.isoformat(timespec="minutes" if to_minute else "milliseconds")


def pair(day, generator):
    """The row of each path, and whether they are one measurement."""
    kind, low, high, unit, digits, told, pause, minutes = generator.choice(KINDS)
    is_one = generator.random() < 0.5
    second = day * 86400 + generator.randrange(20_000, 70_000)
    value = round(generator.uniform(low, high), digits)
    late = generator.uniform(0, 1.5) if minutes else 0
    first = f"{stamp(second + late)},{kind},{value:.{digits}f},{unit},Sensor,Withings sensor\n"
    code, file_digits, factor, offset = generator.choice(told)
    maker = "Withings"
    if not is_one:
        which = generator.randrange(4)
        if which < 2:
            second += pause + int(pause * generator.uniform(0, 3))
            value += (high - low) * 0.02 * (generator.randrange(3) > 0)
        elif which == 2:
            value += 2 * max(10**-file_digits / factor, 10**-digits) * generator.choice([-1, 1])
        else:
            maker = "Omron"
    to_minute = minutes and generator.randrange(3) == 0
    if minutes and (to_minute or generator.random() < 0.5):
        second -= second % 60
    time = stamp(second, generator.choice([0, 60, -300, 330]), to_minute)
    return first, f"{time},{kind},{value * factor + offset:.{file_digits}f},{code},{maker} app,\n", is_one


def retelling(day, generator):
    """The row of one path in either unit, and whether they are one measurement."""
    kind, low, high, unit, digits, other_unit, other_digits, factor, offset = generator.choice(RETOLD)
    is_one = generator.random() < 0.5
    second = day * 86400 + generator.randrange(20_000, 70_000)
    value = generator.uniform(low, high)
    first = f"{stamp(second)},{kind},{value:.{digits}f},{unit},Phone,\n"
    if not is_one:
        if generator.random() < 0.5:
            second += 60
        else:
            # Further apart than both roundings together.
            value = abs(value + 1.1 * (10**-digits + 10**-other_digits / factor) * generator.choice([-1, 1]))
    return first, f"{stamp(second)},{kind},{value * factor + offset:.{other_digits}f},{other_unit},Phone,\n", is_one


def write(count, seed, first_path, second_path):
    """Writes both files; the truth by day comes back."""
    generator, truth = random.Random(seed), []
    with open(first_path, "w", encoding="utf-8") as one, open(second_path, "w", encoding="utf-8") as other:
        one.write(HEADER)
        other.write(HEADER)
        for day in range(count):
            first, second, is_one = (pair if generator.random() < 0.75 else retelling)(day, generator)
            one.write(first)
            other.write(second)
            truth.append(is_one)
    return truth


def day_of(start):
    return (datetime.datetime.fromisoformat(start.replace("Z", "+00:00")) - EPOCH).days
