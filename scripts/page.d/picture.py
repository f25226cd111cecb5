"""Makes docs/images/today.png: Today of a hub with made-up readings of the last two weeks."""

import argparse
import datetime
import math
import pathlib

from hub import ROOT, Hub, browser, eventually, width

parser = argparse.ArgumentParser()
parser.add_argument("--vitalgate", required=True)
arguments = parser.parse_args()
IMAGE = ROOT / "docs/images/today.png"
MOST_OCTETS = 150_000


def readings(now):
    """Rows of CSV: steps and energy by the hour, weight and pressure each morning, glucose, temperature, and nights."""
    rows = []

    def add(time, kind, value, unit, minutes=0, group=""):
        if time + datetime.timedelta(minutes=minutes) <= now:
            end = (time + datetime.timedelta(minutes=minutes)).isoformat() if minutes else ""
            rows.append(f"{time.isoformat()},{kind},{value},{unit},{end},{group}")

    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for day in range(15):
        start = midnight - datetime.timedelta(days=14 - day)
        at = lambda hour, minute=0, start=start: start + datetime.timedelta(hours=hour, minutes=minute)  # noqa: E731
        for hour in range(7, 22):
            add(at(hour), "stepCount", 300 + (day * 37 + hour * 91) % 700, "1", 50)
            add(at(hour), "activeEnergyBurned", 18 + (day * 7 + hour * 5) % 30, "kcal", 50)
            add(at(hour), "distanceWalkingRunning", 220 + (day * 31 + hour * 67) % 500, "m", 50)
        for quarter in range(0, 96):
            add(at(0, 15 * quarter), "heartRate", round(58 + 14 * math.sin(quarter / 15) ** 2 + (day * 7 + quarter * 13) % 9), "/min")
            add(at(0, 15 * quarter), "bloodGlucose", round(104 + 26 * math.sin(quarter / 9 + day) + (quarter * 5) % 7), "mg/dL")
        add(at(6, 50), "restingHeartRate", 54 + day % 4, "/min")
        add(at(7, 5), "bodyMass", round(75.4 - day * 0.07 + (day * 3 % 5) / 10, 1), "kg")
        add(at(7, 10), "bodyTemperature", round(36.4 + (day * 3 % 5) / 10, 1), "Cel")
        add(at(7, 15), "bloodPressureSystolic", 121 + day * 5 % 9, "mm[Hg]", group=f"{day}")
        add(at(7, 15), "bloodPressureDiastolic", 77 + day * 3 % 6, "mm[Hg]", group=f"{day}")
    return "time,type,value,unit,end,group\n" + "\n".join(rows) + "\n"


def main():
    with Hub(arguments.vitalgate) as hub:
        now = datetime.datetime.now(datetime.timezone.utc).astimezone(datetime.timezone(datetime.timedelta(hours=1)))
        hub.run("import", hub.write("readings.csv", readings(now)), codes=(0, 65))
        driver = browser()
        try:
            width(driver, 1200, 900)
            driver.get(hub.run("page", "open").strip())
            eventually("the page is open", lambda: driver.title.startswith("Today") and driver.find_elements("css selector", ".card"))
            driver.save_screenshot(str(IMAGE))
        finally:
            driver.quit()
    size = pathlib.Path(IMAGE).stat().st_size
    if size > MOST_OCTETS:
        raise SystemExit(f"picture: {IMAGE} has {size:,} bytes")
    print(f"{IMAGE.relative_to(ROOT)}: {size:,} bytes")


main()
