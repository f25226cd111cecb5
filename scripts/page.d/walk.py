"""Walks through the page in a browser as a person would, and fails at the first thing that is not as it should be."""

import argparse
import http.server
import importlib.util
import json
import pathlib
import sys
import threading
import time
import urllib.request

from hub import ROOT, Hub, browser, eventually, session, width
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PLACES = ["/page/", "/page/type/heartRate", "/page/type/stepCount", "/page/type/sleepAnalysis", "/page/type/bloodPressure", "/page/type/workout",
          "/page/characteristics", "/page/clients", "/page/care",
          "/page/care/plan?type=bodyTemperature&repair=scale&by.scale=1.1&ambiguous=yes", "/page/devices", "/page/files", "/page/targets",
          "/page/add", "/page/add?type=bodyTemperature", "/page/report", "/page/report?from=2026-11-01&until=2026-11-30&type=bodyMass&type=heartRate",
          "/page/notes", "/page/goals", "/page/alerts", "/page/people", "/page/upload", "/page/deleted", "/page/cards"]
WIDTHS = [360, 800, 1440]
MOST_OCTETS = 150_000

parser = argparse.ArgumentParser()
parser.add_argument("--vitalgate", required=True)
parser.add_argument("--screenshots", type=pathlib.Path)
parser.add_argument("--only", action="append", metavar="WALK")
arguments = parser.parse_args()

found = importlib.util.find_spec("axe_playwright_python")
axe = next(pathlib.Path(found.submodule_search_locations[0]).glob("**/axe.min.js")).read_text(encoding="utf-8")
checked = 0


def step(text):
    print(f"page: {text}", file=sys.stderr)


def look_for_barriers(driver, place):
    """axe's rules, all of them: none is broken."""
    global checked
    driver.execute_script(axe)
    violations = driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((found) => done(found.violations.map((each) =>"
        " [each.id, ...each.nodes.slice(0, 3).map((node) => node.html + ' ' + node.failureSummary)])))")
    assert not violations, f"{place}: {violations}"
    checked += 1


def is_walked(name):
    """Whether a part of the walk was asked for."""
    return not arguments.only or name in arguments.only


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def text(driver, selector="main"):
    return one(driver, selector).text


def is_gone(element):
    try:
        return not element.is_enabled()
    except StaleElementReferenceException:
        return True


def press(driver, button):
    """Presses a button that loads a page, and waits until that page has taken the place of this one."""
    before = one(driver, "html")
    button.click()
    eventually("another page is loaded", lambda: is_gone(before))


def prepare(hub):
    hub.run("import", *[f"Examples/{name}" for name in ["heart-rate.csv", "steps.csv", "withings-weight.csv", "apple-health-export.xml", "omron-blood-pressure.csv"]],
            "--time-zone", "Europe/Berlin")
    hub.run("import", hub.write("held.csv", "time,type,value,unit\n" + "".join(
        f"2026-11-24T10:0{minute}:00Z,heartRate,{value},/min\n" for minute, value in enumerate([60, 61, 900, 62, 63, 901, 64]))), codes=(0, 65))
    days = [f"2026-{9 + day // 28:02}-{1 + day % 28:02}T07:00:00Z,bodyTemperature,{value},Cel\n"
            for day, value in enumerate([f"36.{5 + day % 4}" for day in range(40)] + [f"98.{day % 9}" for day in range(15)])]
    hub.run("import", hub.write("fever.csv", "time,type,value,unit\n" + "".join(days)))
    token = hub.run("clients", "add", "grafana", "--purpose", "Charts of my pulse").strip()
    hub.run("clients", "grant", "grafana", "--read", "heartRate,bodyMass")
    return token


def open_page(driver, hub):
    link = hub.run("page", "open").strip()
    driver.get(link)
    eventually("the link opens the page", lambda: driver.title.startswith("Today"))
    assert "#" not in driver.current_url and "code" not in driver.current_url, driver.current_url
    assert "vitalgate-page" not in driver.execute_script("return document.cookie")
    again = browser()
    try:
        again.get(link)
        eventually("a link opens the page once", lambda: again.find_elements(By.CSS_SELECTOR, "[role=alert]"))
        look_for_barriers(again, "the form")
    finally:
        again.quit()


def see_all(driver, hub, dark):
    """Each page at each width, by axe, and whether anything sticks out."""
    for place in PLACES:
        for pixels in WIDTHS:
            width(driver, pixels)
            driver.get(hub.address + place)
            if driver.find_elements(By.CSS_SELECTOR, "[data-plot]"):
                eventually("the chart is drawn", lambda: driver.find_elements(By.CSS_SELECTOR, "[data-plot] .line, [data-plot] .bars, [data-plot] .tick"))
            sticks_out = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
            assert sticks_out <= 0, f"{place} at {pixels}: {sticks_out} pixels too wide"
            if pixels == 360 or not dark:
                look_for_barriers(driver, f"{place} at {pixels}")
            picture(driver, place, pixels, dark)
    width(driver, 800)


def picture(driver, place, pixels, dark):
    """A screenshot, if a folder for them was given."""
    if not arguments.screenshots:
        return
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    name = f"{place.split('?')[0].strip('/').replace('/', '-')}-{pixels}{'-dark' if dark else ''}.png"
    driver.save_screenshot(str(arguments.screenshots / name))


def pulse_moves(driver, hub):
    driver.get(hub.address + "/page/")
    shown = set()

    def several():
        shown.add(one(driver, "[data-type=heartRate] time").get_attribute("datetime"))
        return len(shown) > 3

    eventually("the strap's pulse moves", several)


def charts(driver, hub):
    driver.get(hub.address + "/page/type/heartRate")
    section = one(driver, "[data-chart]")
    told = lambda: driver.execute_script("return document.querySelector('[data-chart]').chart.told")  # noqa: E731
    eventually("a chart is drawn", told)
    one(driver, "[data-range=month]").click()
    eventually("a month is drawn", lambda: told()["to"] - told()["from"] > 30 * 86_400_000)
    plot = one(driver, "[data-plot]")
    before = told()
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    # The workout of 15 November lies in what is dragged over.
    ActionChains(driver).move_to_element_with_offset(plot, 60, 0).click_and_hold().move_by_offset(120, 0).release().perform()
    eventually("dragging looks closer", lambda: told()["to"] - told()["from"] < (before["to"] - before["from"]) / 2)
    assert one(driver, "[data-move=back]").is_enabled()
    one(driver, "[data-move=back]").click()
    eventually("there is a way back", lambda: told()["to"] - told()["from"] == before["to"] - before["from"])
    assert {"workout", "sleepAnalysis"} <= {event["kind"] for event in told()["events"]}, told()["events"]
    Select(one(driver, "[data-beside]")).select_by_value("stepCount")
    eventually("two types are in one chart", lambda: len(driver.find_elements(By.CSS_SELECTOR, "[data-plot] .lane")) == 2)
    Select(one(driver, "[data-zone]")).select_by_visible_text("Asia/Tokyo")
    eventually("the zone is chosen", lambda: told()["zone"] == "Asia/Tokyo")
    Select(one(driver, "[data-unit-choice]")).select_by_value("Hz")
    eventually("the unit is chosen", lambda: told()["series"][0]["unit"] == "Hz")
    assert max(point[3] for point in told()["series"][0]["points"]) < 5
    look_for_barriers(driver, "a chart of two types")
    assert section.is_displayed()
    # The address has the whole state: another browser shows the same.
    address = driver.current_url
    assert "range=month" in address and "with=stepCount" in address and "unit=Hz" in address, address
    driver.get(address)
    eventually("the address opens the same chart", lambda: len(told()["series"]) == 2 and told()["zone"] == "Asia/Tokyo" and told()["series"][0]["unit"] == "Hz")
    rows = lambda: len(driver.find_elements(By.CSS_SELECTOR, "[data-figures] tbody tr"))  # noqa: E731
    one(driver, "[data-range=year]").click()
    eventually("the table follows the range", lambda: one(driver, "[data-range=year]").get_attribute("aria-current") == "true" and 0 < rows() <= 13)
    for pixels in [360, 1440]:
        width(driver, pixels)
        driver.get(hub.address + "/page/type/heartRate?range=week&previous=yes")
        eventually("a chart is drawn", told)
        drawn = driver.execute_script("""
            const svg = document.querySelector('[data-plot] svg'), box = svg.getBoundingClientRect();
            const texts = [...svg.querySelectorAll('text')].map((each) => each.getBoundingClientRect());
            return { height: box.height, levels: svg.querySelectorAll('.tick[text-anchor=end]').length,
                     cut: texts.filter((each) => each.left < box.left - 1 || each.right > box.right + 1 || each.bottom > box.bottom + 1).length };""")
        assert drawn["height"] >= (280 if pixels > 400 else 240) and drawn["levels"] >= 3 and drawn["cut"] == 0, drawn
        assert "Previous period" in text(driver, "[data-legend]")
    driver.get(hub.address + "/page/type/bloodPressure?range=all")
    eventually("pressures are bars", lambda: driver.find_elements(By.CSS_SELECTOR, "[data-plot] .ranges"))
    width(driver, 800)


def phone(driver, hub):
    """On a phone the navigation is a menu. The page can be installed, and its values go on after the connection was lost."""
    width(driver, 360)
    driver.get(hub.address + "/page/")
    link = one(driver, "nav a[href='/page/devices']")
    assert not link.is_displayed()
    one(driver, "button.menu").click()
    eventually("the menu opens", link.is_displayed)
    look_for_barriers(driver, "the menu")
    press(driver, link)
    eventually("a page opens", lambda: driver.title.startswith("Devices"))
    manifest = json.loads(hub.get(driver.execute_script("return document.querySelector('link[rel=manifest]').getAttribute('href')"), {})[1])
    assert manifest["start_url"] == "/page/" and {each["sizes"] for each in manifest["icons"]} >= {"192x192", "512x512"}
    driver.get(hub.address + "/page/")
    eventually("the page is live", lambda: text(driver, "#live") == "Live")
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, **network})
    eventually("the loss is shown", lambda: "Connection lost" in text(driver, "#live"))
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **network})
    eventually("the page is live again", lambda: text(driver, "#live") == "Live")
    # The element is replaced with each value.
    shown = eventually("a value is shown", lambda: one(driver, "[data-type=heartRate] time").get_attribute("datetime"))
    eventually("values go on", lambda: one(driver, "[data-type=heartRate] time").get_attribute("datetime") > shown)
    width(driver, 800)


class Follower(threading.Thread):
    """A program that follows changes with a token of its own."""

    def __init__(self, hub, token):
        super().__init__(daemon=True)
        self.times = []
        request = urllib.request.Request(hub.address + "/v1/changes/stream?types=heartRate", headers={"Authorization": "Bearer " + token})
        self.answer = urllib.request.urlopen(request, timeout=60)

    def run(self):
        for line in self.answer:
            if line.startswith(b"event: added"):
                self.times.append(time.monotonic())


def programs(driver, hub, token):
    """What is withdrawn while a chart streams reaches the program no more within a second, and the person's own chart goes on."""
    driver.get(hub.address + "/page/type/heartRate")
    one(driver, "[data-range=day]").click()
    follower = Follower(hub, token)
    follower.start()
    eventually("the program is told of the pulse", lambda: len(follower.times) > 2)
    chart = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(hub.address + "/page/clients")
    assert "Charts of my pulse" in text(driver)
    press(driver, one(driver, "[aria-label='Withdraw access to Heart Rate']"))
    withdrawn = time.monotonic()
    eventually("it is withdrawn", lambda: "Heart Rate" not in text(driver, "main table"))
    time.sleep(4)
    assert not [each for each in follower.times if each > withdrawn + 1], "the program was told more than a second behind the withdrawal"
    driver.close()
    driver.switch_to.window(chart)
    # A point covers minutes, so its figures change with each reading, and its end does not.
    last = lambda: driver.execute_script("return JSON.stringify(document.querySelector('[data-chart]').chart.told.series[0].points.at(-1))")  # noqa: E731
    shown = eventually("the chart has points", last)
    eventually("the person's chart goes on", lambda: last() != shown)


def asks(hub, token, **types):
    """A program asks its person for types."""
    request = urllib.request.Request(
        hub.address + "/v1/authorization", json.dumps(types).encode(), {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 200


def reads(hub, token, kind):
    """What a program reads of a type."""
    lines = hub.get(f"/v1/samples?types={kind}&format=ndjson", {"Authorization": "Bearer " + token})[1].splitlines()
    return [json.loads(line) for line in lines]


def put(driver, field, day):
    """A day, as a browser's picker puts it into a field."""
    driver.execute_script("arguments[0].value = arguments[1]", field, day)


def grants(driver, hub, token):
    """Types from a day on, records one by one, and what comes later."""
    records = [json.loads(line) for line in (ROOT / "Examples/immunization-checklist/records.ndjson").read_text().splitlines()]
    hub.run("import", hub.write("records.ndjson", "".join(json.dumps(each) + "\n" for each in records[:3])))
    everything = len(hub.run("query", "bodyTemperature", "--format", "ndjson").splitlines())
    asks(hub, token, read=["bodyTemperature", "immunizationRecord"])
    driver.get(hub.address + "/page/clients")
    one(driver, "input[name=yes][value='read.bodyTemperature']").click()
    put(driver, one(driver, "input[name='from.bodyTemperature']"), "2026-10-01")
    records_shown = driver.find_elements(By.CSS_SELECTOR, "input[name='object.immunizationRecord']")
    assert len(records_shown) == 3 and not driver.find_elements(By.CSS_SELECTOR, "input[value='read.immunizationRecord'][name=yes]")
    records_shown[1].click()
    look_for_barriers(driver, "a request")
    press(driver, driver.find_element(By.XPATH, "//button[text()='Save choices']"))
    eventually("it is answered", lambda: "From 1 Oct" in text(driver))
    some = reads(hub, token, "bodyTemperature")
    assert 0 < len(some) < everything and min(each["start"] for each in some) >= "2026-09-30T22", some
    assert len(reads(hub, token, "immunizationRecord")) == 1
    put(driver, one(driver, "input[name='from.bodyTemperature']"), "")
    press(driver, one(driver, "[aria-label='Save access to Body Temperature']"))
    eventually("all of it is granted", lambda: "From 1 Oct" not in text(driver))
    # The simulated thermometer goes on measuring meanwhile.
    before = len(hub.run("query", "bodyTemperature", "--format", "ndjson").splitlines())
    now = len(reads(hub, token, "bodyTemperature"))
    after = len(hub.run("query", "bodyTemperature", "--format", "ndjson").splitlines())
    assert everything <= before <= now <= after, f"{now} are read of {before} to {after}"
    hub.run("import", hub.write("fourth.ndjson", json.dumps(records[3]) + "\n"))
    assert len(reads(hub, token, "immunizationRecord")) == 1, "a record that nobody granted is read"
    driver.get(hub.address + "/page/clients")
    driver.find_element(By.XPATH, "//summary[text()='Choose records']").click()
    one(driver, "details[open] input[name=future]").click()
    look_for_barriers(driver, "which records")
    press(driver, one(driver, "details[open] button"))
    eventually("those to come are granted", lambda: "Selected and future records" in text(driver))
    later = dict(records[3], id="imm-later", occurrenceDateTime="2020-10-08")
    hub.run("import", hub.write("later.ndjson", json.dumps(later) + "\n"))
    assert len(reads(hub, token, "immunizationRecord")) == 2


def repairs(driver, hub):
    """A repair that nothing proposes: seen, done, undone."""
    starts = lambda: [json.loads(line)["start"] for line in hub.run("query", "stepCount", "--format", "ndjson").splitlines()]  # noqa: E731
    before = starts()
    driver.get(hub.address + "/page/care")
    press(driver, driver.find_element(By.LINK_TEXT, "Repair other readings"))
    eventually("the form is there", lambda: driver.find_elements(By.NAME, "type"))
    Select(one(driver, "select[name=type]")).select_by_value("stepCount")
    one(driver, "input[name=repair][value=shift]").click()
    one(driver, "input[name='by.shift']").send_keys("one hour")
    press(driver, driver.find_element(By.XPATH, "//button[text()='Preview']"))
    eventually("what is no time is refused", lambda: driver.find_elements(By.CSS_SELECTOR, "[role=alert]"))
    field = one(driver, "input[name='by.shift']")
    field.clear()
    field.send_keys("-1h")
    press(driver, driver.find_element(By.XPATH, "//button[text()='Preview']"))
    eventually("it is drawn", lambda: driver.find_elements(By.CSS_SELECTOR, ".moves line"))
    look_for_barriers(driver, "a plan")
    if arguments.screenshots:
        driver.save_screenshot(str(arguments.screenshots / "plan-of-times.png"))
    assert starts() == before
    press(driver, one(driver, "form[action='/page/care/repair'] button"))
    eventually("it is repaired", lambda: "The repair was applied." in text(driver))
    assert len(starts()) == len(before) and starts() != before
    press(driver, one(driver, "form[action^='/page/care/undo'] button"))
    eventually("it is undone", lambda: "The repair was undone." in text(driver))
    assert starts() == before


def care(driver, hub):
    driver.get(hub.address + "/page/care")
    numbers = [each.get_attribute("aria-label") for each in driver.find_elements(By.CSS_SELECTOR, "button[value=accept]")]
    assert len(numbers) == 2 and len(driver.find_elements(By.CSS_SELECTOR, ".dots .marked")) == 2
    press(driver, one(driver, "button[value=accept]"))
    eventually("one is accepted", lambda: len(driver.find_elements(By.CSS_SELECTOR, "button[value=accept]")) == 1)
    press(driver, one(driver, "button[value=reject]"))
    eventually("the other is thrown out", lambda: "No readings are quarantined." in text(driver))
    assert "900" in hub.run("query", "heartRate", "--where", "value > 800", "--format", "ndjson")
    assert "Body Temperature" in text(driver)
    press(driver, one(driver, "form[action='/page/care/repair'] button"))
    eventually("it is repaired", lambda: "Nothing needs attention." in text(driver))
    assert "15" in hub.run("repair", "list", "--format", "ndjson")
    press(driver, one(driver, "form[action^='/page/care/undo'] button"))
    eventually("the repair is undone", lambda: driver.find_elements(By.CSS_SELECTOR, "form[action='/page/care/repair']"))


def files(driver, hub):
    path = hub.write("weights.csv", "time,type,value,unit\n2026-11-24T07:00:00Z,bodyMass,71.5,kg\n2026-11-24T08:00:00,bodyMass,71 or so,kg\n")
    driver.get(hub.address + "/page/files")
    one(driver, "input[type=file]").send_keys(path)
    eventually("the file is sent", lambda: "weights.csv" in text(driver, "[data-state]"))
    eventually("the file is read", lambda: driver.find_elements(By.XPATH, "//tr[contains(., 'weights.csv') and contains(., 'Done')]"), 30)
    press(driver, one(driver, "tr:has(td) a"))
    eventually("its account says why a row was refused", lambda: "Line 3" in text(driver) and "value" in text(driver))
    look_for_barriers(driver, "an account")
    driver.get(hub.address + "/page/type/bodyMass")
    assert "71.5" in text(driver)
    press(driver, one(driver, "td a, th a"))
    eventually("a sample says why it is one", lambda: "Received" in text(driver))
    look_for_barriers(driver, "a sample")


def devices(driver, hub):
    driver.get(hub.address + "/page/devices")
    assert "Simulated strap" in text(driver) and "Battery 90%" in text(driver) and "Connected" in text(driver), text(driver)
    press(driver, one(driver, "button[aria-label='Assign Simulated strap']"))
    eventually("a device is assigned", lambda: "Simulated strap" in text(driver))
    driver.find_element(By.XPATH, "//button[text()='Scan for nearby devices']").click()
    # Whether there is a radio depends on the machine; either way the page says what became of it.
    eventually("a scan ends", lambda: driver.find_elements(By.CSS_SELECTOR, "main .problem, main .done, #near")
               or driver.find_elements(By.XPATH, "//p[contains(., 'No supported devices')]"), 60)
    driver.get(hub.address + "/page/targets")
    assert "archive" in text(driver) and "Delivering" in text(driver)


def household(driver, hub):
    """What a household does on the page, on a phone and on a desktop."""
    for pixels, child in [(360, "Ben"), (1440, "Mia")]:
        width(driver, pixels)
        driver.get(hub.address + "/page/")
        assert one(driver, "[data-type=stepCount] [data-value]").text, "today's steps"
        driver.get(hub.address + "/page/type/sleepAnalysis")
        assert driver.find_elements(By.CSS_SELECTOR, "main svg"), "last night"
        driver.get(hub.address + "/page/type/bodyMass?range=year")
        eventually("the weights of a year", lambda: driver.find_elements(By.CSS_SELECTOR, "[data-figures] tbody tr"))
        for place, shown in [("/page/type/workout", "Duration"), ("/page/type/bloodPressure", "mmHg")]:
            driver.get(hub.address + place)
            press(driver, one(driver, "th a[href^='/page/sample/']"))
            eventually("a sample opens", lambda shown=shown: shown in text(driver))
        report(driver, hub)
        # The same temperature in the same minute would be a duplicate.
        entry(driver, hub, "37.2" if pixels == 360 else "37.4")
        driver.get(hub.address + "/page/people")
        one(driver, "#name").send_keys(child)
        press(driver, driver.find_element(By.XPATH, "//button[text()='Add person']"))
        eventually("a child is added", lambda child=child: child in text(driver, "table"))
        driver.get(hub.address + "/page/devices")
        form = one(driver, "form:has(button[aria-label='Assign Simulated thermometer'])")
        Select(form.find_element(By.TAG_NAME, "select")).select_by_visible_text(child)
        press(driver, form.find_element(By.TAG_NAME, "button"))
        eventually("the thermometer is the child's", lambda child=child: child in json.dumps(
            [json.loads(line) for line in hub.run("devices", "list", "--format", "ndjson").splitlines()])
            or child in text(driver, "main"))
        alert(driver, hub, pixels)
    width(driver, 800)


def cards(driver, hub):
    """Cards are moved and hidden with the keyboard, on a phone, and the person's other browsers show the same."""
    keys = lambda: [each.get_attribute("data-type") for each in driver.find_elements(By.CSS_SELECTOR, ".card[data-type]")]  # noqa: E731
    width(driver, 360)
    driver.get(hub.address + "/page/")
    before = keys()
    driver.get(hub.address + "/page/cards")
    look_for_barriers(driver, "the arrangement of cards")
    last = driver.find_elements(By.CSS_SELECTOR, ".arrange .arrange")[0].find_elements(By.CSS_SELECTOR, "li button[value=up]")[-1]
    name = last.get_attribute("aria-label").removeprefix("Up: ")
    driver.execute_script("arguments[0].focus()", last)
    while driver.switch_to.active_element.get_attribute("value") == "up":
        html = one(driver, "html")
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        eventually("the card is moved", lambda: is_gone(html))
        # The browser moves the focus after it has loaded the page.
        eventually("the button keeps the focus", lambda: driver.switch_to.active_element.get_attribute("aria-label") in [f"Up: {name}", f"Down: {name}"])
    press(driver, one(driver, "[aria-label='Hide: Heart Rate']"))
    assert driver.switch_to.active_element.get_attribute("aria-label") == "Show: Heart Rate"
    driver.get(hub.address + "/page/")
    assert set(keys()) == set(before) - {"heartRate"} and keys() != [each for each in before if each != "heartRate"], keys()
    assert "Hidden cards: 1" in text(driver)
    # A reading of the hidden card does not load the page again and again.
    driver.execute_script("window.unchanged = document.querySelector('main > section')")
    time.sleep(3)
    assert driver.execute_script("return window.unchanged.isConnected"), "the page is loaded for a hidden card"
    driver.get(hub.address + "/page/cards")
    press(driver, one(driver, "button[value=reset]"))
    driver.get(hub.address + "/page/")
    assert keys() == before, keys()
    width(driver, 800)


def run_through_berlin(hub):
    """A route of 40 minutes, and the address of its page."""
    points = "".join(f'<trkpt lat="{52.51 + minute / 4000:.5f}" lon="{13.37 + minute * minute / 60000:.5f}"><ele>{34 + minute % 7}</ele>'
                     f"<time>2026-11-22T09:{minute:02}:00Z</time></trkpt>" for minute in range(40))
    hub.run("import", hub.write("run.gpx", f'<gpx version="1.1" creator="walk" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>'))
    route = json.loads(hub.run("query", "workoutRoute", "--format", "ndjson").splitlines()[-1])
    return f"{hub.address}/page/sample/{route['uuid']}"


class Tiles(http.server.BaseHTTPRequestHandler):
    """A server of map tiles, which are all the same."""

    asked = []

    def do_GET(self):
        self.asked.append((self.path, self.headers.get("Referer")))
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write((ROOT / "WebPage/icon-192.png").read_bytes())

    def log_message(self, *_):
        pass


def settings(driver, hub):
    """What the owner configures: a map below a route, and categories of blood pressure. Without it, there is neither."""
    address = run_through_berlin(hub)
    driver.get(address)
    eventually("a route is drawn", lambda: driver.find_elements(By.CSS_SELECTOR, ".map .way"))
    names = driver.execute_script("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert all(name.startswith(hub.address) for name in names) and not driver.find_elements(By.CSS_SELECTOR, "image"), names
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tiles)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tiles = f'{{ url: "http://127.0.0.1:{server.server_port}/{{z}}/{{x}}/{{y}}.png", attribution: "© Walk" }}'
    with Hub(arguments.vitalgate, f'{{ bloodPressure: "esc-esh-2018", tiles: {tiles} }}') as other:
        address = run_through_berlin(other)
        other.run("import", "Examples/omron-blood-pressure.csv", "--time-zone", "Europe/Berlin")
        driver.get(other.run("page", "open").strip())
        eventually("the link opens the page", lambda: driver.title.startswith("Today"))
        # The cards are replaced when a reading of a new type arrives.
        eventually("a pressure has a category", lambda: "(ESC/ESH 2018)" in text(driver, "[data-type=bloodPressure]"))
        for pixels in WIDTHS:
            width(driver, pixels)
            driver.get(address)
            images = len(driver.find_elements(By.CSS_SELECTOR, ".map image"))
            assert 1 <= images <= 16, images
            eventually("the tiles are loaded", lambda images=images: len({path for path, _ in Tiles.asked}) == images)
            assert "© Walk" in text(driver, ".map")
            look_for_barriers(driver, f"a map at {pixels}")
            picture(driver, "map", pixels, False)
        assert not any(referer for _, referer in Tiles.asked), Tiles.asked
        # Both hubs are on one host, and later parts use the cookie of the first.
        width(driver, 1440)
        press(driver, driver.find_element(By.XPATH, "//button[text()='Log out']"))
    server.shutdown()
    width(driver, 800)


def report(driver, hub):
    """The blood pressures of a month for a doctor: printed without the page's buttons, and as a table."""
    driver.get(hub.address + "/page/report")
    for name, day in [("from", "2026-11-01"), ("until", "2026-11-30")]:
        put(driver, one(driver, f"#{name}"), day)
    kinds = driver.find_elements(By.CSS_SELECTOR, "input[name=type][value^=bloodPressure]")
    assert kinds, "a report of blood pressures is offered"
    for kind in kinds:
        kind.click()
    press(driver, driver.find_element(By.XPATH, "//button[text()='Show report']"))
    assert driver.find_elements(By.CSS_SELECTOR, ".report table tbody tr") and one(driver, "[data-print]").is_displayed()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not one(driver, "[data-print]").is_displayed() and not one(driver, "header").is_displayed()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    status, table = hub.get(one(driver, "a[href*='readings.csv']").get_attribute("href").removeprefix(hub.address), session(driver))
    assert status == 200 and table.count(b"\n") > 10, table[:200]


def entry(driver, hub, temperature):
    """A temperature is entered, corrected, deleted and restored."""
    driver.get(hub.address + "/page/add?type=bodyTemperature")
    one(driver, "#value").send_keys("warm")
    press(driver, driver.find_element(By.XPATH, "//button[text()='Save']"))
    assert driver.find_elements(By.CSS_SELECTOR, "[aria-invalid=true], .problem"), "a word is not a number"
    field = one(driver, "#value")
    field.clear()
    field.send_keys(temperature)
    press(driver, driver.find_element(By.XPATH, "//button[text()='Save']"))
    assert "The reading was saved." in text(driver), text(driver)
    own = lambda: [json.loads(line) for line in hub.run("query", "bodyTemperature", "--where", "source.id = vitalgate.hand", "--format", "ndjson").splitlines()]  # noqa: E731
    sample = own()[-1]
    assert sample["value"] == float(temperature) and sample["metadata"]["wasUserEntered"], sample
    count = len(own())
    driver.get(f"{hub.address}/page/sample/{sample['uuid']}")
    press(driver, driver.find_element(By.LINK_TEXT, "Delete"))
    look_for_barriers(driver, "a deletion")
    press(driver, one(driver, "form[action$='/delete'] button"))
    eventually("it is deleted", lambda: len(own()) == count - 1)
    press(driver, one(driver, f"form[action='/page/sample/{sample['uuid']}/restore'] button"))
    eventually("it is restored", lambda: len(own()) == count)
    hub.run("delete", sample["uuid"])


def alert(driver, hub, value):
    """A low glucose is shown on Today."""
    hub.run("add", "bloodGlucose", "98", "mg/dL")
    driver.get(hub.address + "/page/alerts")
    Select(one(driver, "#type")).select_by_value("bloodGlucose")
    Select(one(driver, "#condition")).select_by_value("below")
    one(driver, "#bound").send_keys("70")
    press(driver, driver.find_element(By.XPATH, "//button[text()='Add alert']"))
    eventually("an alert is listed", lambda: "below 70" in text(driver))
    hub.run("add", "bloodGlucose", "61" if value == 360 else "62", "mg/dL")

    def warned():
        driver.get(hub.address + "/page/")
        return "below 70" in text(driver)

    eventually("the page warns", warned)
    look_for_barriers(driver, "a warning")
    hub.run("add", "bloodGlucose", "99", "mg/dL")
    number = json.loads(hub.run("alerts", "list", "--format", "ndjson").splitlines()[-1])["alert"]
    hub.run("alerts", "remove", str(number))


HOSTILE = "<img src=x onerror=pwned=1>\"'`</title><script>pwned=1</script>"


def hostile_names(driver, hub):
    """What others called something is text, wherever it is shown."""
    sample = {"type": "bodyMass", "start": "2026-11-25T07:00:00Z", "value": 72, "unit": "kg", "metadata": {HOSTILE: HOSTILE},
              "source": {"id": HOSTILE, "name": HOSTILE, "version": HOSTILE},
              "device": {"key": HOSTILE, "name": HOSTILE, "manufacturer": HOSTILE, "model": HOSTILE}}
    hub.run("import", hub.write("hostile.ndjson", json.dumps(sample) + "\n" + json.dumps(dict(sample, start=HOSTILE)) + "\n"), codes=(0, 65))
    record = json.loads((ROOT / "Examples/immunization-checklist/records.ndjson").read_text().splitlines()[0])
    record.update(id="hostile", vaccineCode={"text": HOSTILE}, occurrenceDateTime="2026-11-25")
    hub.run("import", hub.write("record.ndjson", json.dumps(record) + "\n"))
    token = hub.run("clients", "add", "<b>" + HOSTILE[:55], "--purpose", HOSTILE, "--policy", "javascript:pwned=1").strip()
    asks(hub, token, read=["bodyMass", "immunizationRecord"])
    (hub.folder / "inbox" / "<img src=x onerror=pwned=1>.csv").write_text(f"time,type,value,unit\n{HOSTILE},bodyMass,1,kg\n")
    eventually("the file is read", lambda: "<img src=x onerror=pwned=1>.csv" in hub.run("ledger", "list", "--format", "ndjson"), 30)
    driver.get(hub.address + "/page/type/bodyMass")
    sample_page = one(driver, "th a[href^='/page/sample/']").get_attribute("href")
    driver.get(hub.address + "/page/files")
    ingests = {each.get_attribute("href") for each in driver.find_elements(By.CSS_SELECTOR, "a[href^='/page/care/ingest/']")}
    shown = 0
    for address in [*(hub.address + place for place in PLACES), hub.address + "/page/type/bodyMass", sample_page, *ingests,
                    hub.address + "/page/care/plan?type=bodyMass&repair=unit&by.unit=%3Cimg%20src=x%3E"]:
        driver.get(address)
        shown += "<img" in text(driver)
        found = driver.execute_script("return [typeof pwned, document.querySelectorAll('img').length]")
        assert found == ["undefined", 0], f"{address}: {found}"
        assert not driver.find_elements(By.CSS_SELECTOR, "a[href^='javascript:']"), address
    assert shown >= 5, f"what is hostile is seen on {shown} pages only"


def without_scripts(driver, hub):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get(hub.address + "/page/type/heartRate?range=month")
    rows = driver.find_elements(By.CSS_SELECTOR, "tbody tr")
    assert len(rows) > 20 and not one(driver, "[data-chart]").is_displayed()
    driver.get(hub.address + "/page/")
    assert len(driver.find_elements(By.CSS_SELECTOR, ".card .value")) > 5
    driver.get(hub.address + "/page/clients")
    press(driver, one(driver, "[aria-label='Withdraw access to Weight']"))
    eventually("a form works without scripts", lambda: not driver.find_elements(By.CSS_SELECTOR, "[aria-label='Withdraw access to Weight']"))
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def size(driver, hub):
    """All that a browser loads for any page, packed."""
    cookie = session(driver)
    driver.get(hub.address + "/page/type/heartRate")
    names = driver.execute_script("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert all(name.startswith(hub.address) for name in names), names
    octets = sum(len(hub.get(f"/page/static/{name}", {"Accept-Encoding": "gzip"})[1])
                 for name in ["page.css", "page.js", "chart.js", "files.js", "login.js", "icon.svg"])
    octets += max(len(hub.get(place, {"Accept-Encoding": "gzip", **cookie})[1]) for place in PLACES)
    assert octets <= MOST_OCTETS, f"{octets} octets"
    return octets


def close(driver, hub):
    cookie = session(driver)
    assert hub.get("/page/data/today", cookie)[0] == 200
    driver.get(hub.address + "/page/")
    press(driver, driver.find_element(By.XPATH, "//button[text()='Log out']"))
    eventually("the page is closed", lambda: driver.find_elements(By.ID, "code"))
    assert hub.get("/page/data/today", cookie)[0] == 401
    log = (hub.folder / "hub.log").read_text()
    assert not any(word in log for word in ["code=", cookie["Cookie"][-20:], "/page"]), "the log has what it should not"


def main():
    begin = time.monotonic()
    with Hub(arguments.vitalgate) as hub:
        token = prepare(hub)
        driver = browser()
        try:
            width(driver, 800)
            step("login")
            open_page(driver, hub)
            if is_walked("see_all"):
                step("each page at each width")
                see_all(driver, hub, dark=False)
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
                see_all(driver, hub, dark=True)
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
            for walk, *more in [(pulse_moves,), (charts,), (phone,), (programs, token), (grants, token), (care,), (repairs,), (files,), (devices,), (household,), (cards,), (settings,), (hostile_names,), (without_scripts,)]:
                if is_walked(walk.__name__):
                    step(walk.__name__.replace("_", " "))
                    walk(driver, hub, *more)
            octets = size(driver, hub)
            close(driver, hub)
            # Apart from the form that asks for a code, the lost connection, and the word for a temperature, nothing failed and nothing was refused by the policy.
            expected = [" 401 ", "ERR_INTERNET_DISCONNECTED", "/page/add - Failed to load resource: the server responded with a status of 422"]
            errors = [entry["message"] for entry in driver.get_log("browser") if not any(each in entry["message"] for each in expected)]
            assert not errors, errors
        finally:
            driver.quit()
    print(f"page: {len(PLACES)} pages at {len(WIDTHS)} widths, {checked} looked at by axe, {octets:,} octets packed, {time.monotonic() - begin:.0f} s")


main()
