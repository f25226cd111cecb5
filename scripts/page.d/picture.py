"""Makes docs/images/today.png: Today in the morning, of a hub with made-up readings of the last weeks."""

import argparse
import datetime
import pathlib

import readings
from hub import ROOT, Hub, browser, eventually, width
from readings import lines, pressures, rows

parser = argparse.ArgumentParser()
parser.add_argument("--vitalgate", required=True)
arguments = parser.parse_args()
IMAGE = ROOT / "docs/images/today.png"
MOST_OCTETS = 150_000
# A comparison with the usual needs some weeks.
readings.DAYS = 45


def morning():
    """The hours east of UTC where it is between nine and ten in the morning."""
    hours = (9 - datetime.datetime.now(datetime.timezone.utc).hour) % 24
    return hours if hours <= 12 else hours - 24


def main():
    east = morning()
    zone = f"Etc/GMT{-east:+d}" if east else "UTC"
    with Hub(arguments.vitalgate, zone=zone) as hub:
        now = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=east)))
        hub.run("import", hub.write("readings.csv", rows(now)), codes=(0, 65))
        hub.run("import", hub.write("pressures.csv", pressures(now)), "--time-zone", zone)
        hub.run("import", hub.write("lines.ndjson", lines(now)))
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
