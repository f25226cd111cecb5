"""Makes docs/images/today.png: Today of a hub with made-up readings of the last two weeks."""

import argparse
import datetime
import pathlib

import readings
from hub import ROOT, Hub, browser, eventually, width
from readings import BERLIN, lines, pressures, rows

parser = argparse.ArgumentParser()
parser.add_argument("--vitalgate", required=True)
arguments = parser.parse_args()
IMAGE = ROOT / "docs/images/today.png"
MOST_OCTETS = 150_000
# A comparison with the usual needs some weeks.
readings.DAYS = 45


def main():
    with Hub(arguments.vitalgate) as hub:
        now = datetime.datetime.now(BERLIN)
        hub.run("import", hub.write("readings.csv", rows(now)), codes=(0, 65))
        hub.run("import", hub.write("pressures.csv", pressures(now)), "--time-zone", "Europe/Berlin")
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
