"""Each view of the page at each width, in both languages, in light and dark."""

import datetime
import json
import os

from browsing import WIDTHS, arguments, leave, look_for_barriers, look_for_overlaps, one, open_tables, picture, step
from hub import Hub, eventually, prefer, width
from programs import asks
from readings import archive, lines, pressures, rows
from selenium.webdriver.common.by import By
from taps import taps

PLACES = ["", "all", "records", "hub", "type/heartRate", "type/stepCount", "type/sleepAnalysis", "type/bloodPressure", "type/workout", "characteristics", "clients", "care",
          "care/plan?type=bodyTemperature&repair=scale&by.scale=1.1&ambiguous=yes", "devices", "files", "targets", "add", "add?type=bodyTemperature",
          "report", "report?from=2026-11-01&until=2026-11-30&type=bodyMass&type=heartRate", "notes", "goals", "alerts", "people", "upload", "deleted", "cards"]
# Each kind of object has a page of its own.
OBJECTS = ["workout", "electrocardiogram", "audiogram", "labResultRecord", "medicationDoseEvent", "bodyMass", "sleepAnalysis", "gad7"]
LANGUAGES = ["en", "de"]
EVENING = 21


def evening():
    """A zone in which it is evening, and its present time, so that the day has its readings whenever the walk is."""
    hours = (EVENING - datetime.datetime.now(datetime.timezone.utc).hour + 12) % 24 - 12
    return f"Etc/GMT{-hours:+}", datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=hours)))


def post(driver, place, **fields):
    """Sends a form without pressing its button."""
    status = driver.execute_async_script("""
        const [place, fields, done] = arguments;
        fetch(place, { method: "POST", body: new URLSearchParams(fields) }).then((answer) => done(answer.status));""", "/page/" + place, fields)
    assert status == 200, f"{place}: {status}"


def furnish(driver, hub, zone, now):
    """What a household has after two weeks. Gives the names of further places: of each kind of object, and of what can be done with one."""
    hub.run("import", hub.write("readings.csv", rows(now)), codes=(0, 65))
    hub.run("import", hub.write("pressures.csv", pressures(now)), "--time-zone", zone)
    hub.run("import", hub.write("lines.ndjson", lines(now)))
    hub.run("import", archive(now, hub.folder / "export.zip"), codes=(0, 65))
    yesterday = (now - datetime.timedelta(days=1)).date()
    hub.run("import", hub.write("held.csv", "time,type,value,unit\n" + "".join(
        f"{yesterday}T10:0{minute}:00Z,heartRate,{value},/min\n" for minute, value in enumerate([60, 61, 900, 62, 63, 901, 64]))), codes=(0, 65))
    fever = [f"{yesterday - datetime.timedelta(days=90 - day)}T05:00:00Z,bodyTemperature,{value},Cel\n"
             for day, value in enumerate([f"36.{5 + day % 4}" for day in range(40)] + [f"98.{day % 9}" for day in range(15)])]
    hub.run("import", hub.write("a long name of a file with temperatures.csv", "time,type,value,unit\n" + "".join(fever)))
    (hub.folder / "inbox" / "weights.csv").write_text(f"time,type,value,unit\n{yesterday}T07:00:00Z,bodyMass,74.5,kg\n{yesterday}T08:00:00,bodyMass,74 or so,kg\n")
    token = hub.run("clients", "add", "grafana", "--purpose", "Charts of my pulse", "--policy", "https://example.org/privacy").strip()
    hub.run("clients", "grant", "grafana", "--read", "heartRate,bodyMass")
    hub.get("/v1/samples?types=heartRate&format=ndjson", {"Authorization": "Bearer " + token})
    asks(hub, token, read=["bodyTemperature", "labResultRecord"], write=["bodyMass"])
    hub.run("people", "add", "Robin")
    hub.run("alerts", "add", "bloodGlucose", "above", "180", "mg/dL")
    hub.run("alerts", "add", "heartRate", "above", "20", "/min")
    post(driver, "goals", do="set", type="stepCount", value="10000", span="day")
    post(driver, "notes", do="add", day=str(now.date()), tags="travel, late dinner", note="A long day on the train to Hamburg, with little sleep.")
    post(driver, "notes", do="add", day=str(yesterday), tags="cold", note="")
    post(driver, "add", type="bodyMass", at=f"{yesterday}T06:30", zone=zone, unit="kg", value="75.1")
    found = [json.loads(line) for line in hub.run("query", "all", "--format", "ndjson").splitlines()]
    last = {each["type"]: each["uuid"] for each in found}
    own = [each["uuid"] for each in found if each["source"]["id"] == "vitalgate.hand"]
    names = {f"sample/{last[kind]}": f"sample-{kind}" for kind in OBJECTS if kind in last}
    names |= {f"sample/{own[-1]}/{action}": f"sample-{action}" for action in ["correct", "delete"]}
    hub.run("delete", last["restingHeartRate"])
    return names | {"care/ingest/1": "ledger-entry"}


def see_all(driver):
    """Each view, by axe, and whether anything sticks out."""
    zone, now = evening()
    with Hub(arguments.vitalgate, zone=zone) as hub:
        prefer(driver)
        driver.get(hub.run("page", "open").strip())
        eventually("the page is open", lambda: driver.title.startswith("Today"))
        names = furnish(driver, hub, zone, now)
        for language in LANGUAGES:
            for dark in [False, True]:
                prefer(driver, language, "dark" if dark else "light")
                for place in [*PLACES, *names]:
                    name = names.get(place) or "-".join(place.split("?")[0].strip("/").split("/")[-2:]) or "today"
                    for pixels in WIDTHS:
                        see(driver, hub, place, name + ("-query" if "?" in place else ""), pixels, dark, language)
        prefer(driver)
        step(f"taps: {taps(driver, hub, now)}")
        driver.get(hub.address + "/page/")
        width(driver, 1440)
        leave(driver)
    width(driver, 800)


def see(driver, hub, place, name, pixels, dark, language):
    width(driver, pixels)
    driver.get(f"{hub.address}/page/{place}")
    assert one(driver, "html").get_attribute("lang") == language
    if driver.find_elements(By.CSS_SELECTOR, "[data-plot]"):
        eventually("the chart is drawn", lambda: driver.find_elements(By.CSS_SELECTOR, "[data-plot] .line, [data-plot] .bars, [data-plot] .tick"))
    look_for_overlaps(driver, f"{place} at {pixels} in {language}")
    picture(driver, name, pixels, dark, language)
    open_tables(driver)
    sticks_out = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert sticks_out <= 0, f"{place} at {pixels}: {sticks_out} pixels too wide"
    beside = driver.execute_script("return [...document.querySelectorAll('td :is(button, summary)')].filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.textContent)")
    assert not beside, f"{place} at {pixels} in {language}: {beside} are out of sight"
    # Colors do not depend on the language, nor texts on the colors.
    if language == "en" and (pixels == 360 or not dark):
        look_for_barriers(driver, f"{place} at {pixels}")
