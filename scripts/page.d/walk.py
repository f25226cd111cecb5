"""Walks through the page in a browser as a person would, and fails at the first thing that is not as it should be."""

import http.server
import json
import threading
import time

import browsing
from browsing import WIDTHS, arguments, is_walked, log_out, look_for_barriers, one, open_tables, picture, press, step, text
from household import cards, household
from hub import ROOT, Hub, browser, eventually, session, width
from programs import asks, grants, programs
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from views import PLACES, see_all

MOST_OCTETS = 40_000
# Of the style and the scripts of all pages that show readings, unpacked.
MOST_PLAIN_OCTETS = 45_000


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


def pulse_moves(driver, hub):
    driver.get(hub.address + "/page/")
    shown = set()

    def several():
        shown.add(one(driver, "[data-type=heartRate] time").get_attribute("datetime"))
        return len(shown) > 1

    # The hub commits a strap's beats twice a minute, also while a page is open.
    eventually("the strap's pulse moves", several, seconds=90)


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
    one(driver, ".chart details summary").click()
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
    """On a phone the navigation is a bar at the bottom, and the parts of the hub are a page. The page can be installed, and its values go on after the connection was lost."""
    width(driver, 360)
    driver.get(hub.address + "/page/")
    bar = one(driver, "nav.tabs").rect
    assert bar["y"] + bar["height"] <= 901 and len(driver.find_elements(By.CSS_SELECTOR, "nav.tabs a")) == 5, bar
    assert not one(driver, "nav.hub").is_displayed()
    one(driver, "details.who summary").click()
    eventually("the menu of people opens", one(driver, ".menu").is_displayed)
    look_for_barriers(driver, "the menu of people")
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    eventually("the menu closes", lambda: not one(driver, ".menu").is_displayed())
    press(driver, one(driver, "a.tohub"))
    press(driver, one(driver, "main a[href='/page/devices']"))
    eventually("a page opens", lambda: driver.title.startswith("Devices"))
    manifest = json.loads(hub.get(driver.execute_script("return document.querySelector('link[rel=manifest]').getAttribute('href')"), {})[1])
    assert manifest["start_url"] == "/page/" and {each["sizes"] for each in manifest["icons"]} >= {"192x192", "512x512"}
    loads = """
        const image = new Image();
        image.onload = () => arguments[1](image.width);
        image.onerror = () => arguments[1](0);
        image.src = new URL(arguments[0], document.querySelector("link[rel=manifest]").href);
    """
    for icon in manifest["icons"]:
        size = driver.execute_async_script(loads, icon["src"])
        assert size > 0, f"{icon['src']} is not an image"
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
    eventually("values go on", lambda: one(driver, "[data-type=heartRate] time").get_attribute("datetime") > shown, seconds=90)
    width(driver, 800)


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
    picture(driver, "plan-of-times", 800)
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
    open_tables(driver)
    press(driver, one(driver, "th a[href^='/page/sample/']"))
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
        # The blood pressures are of an earlier week.
        driver.get(other.address + "/page/all")
        eventually("a pressure has a category", lambda: "(ESC/ESH 2018)" in text(driver, "[data-type=bloodPressure]"))
        for pixels in WIDTHS:
            width(driver, pixels)
            driver.get(address)
            images = len(driver.find_elements(By.CSS_SELECTOR, ".map image"))
            assert 1 <= images <= 16, images
            eventually("the tiles are loaded", lambda images=images: len({path for path, _ in Tiles.asked}) == images)
            assert "© Walk" in text(driver, ".map")
            look_for_barriers(driver, f"a map at {pixels}")
            picture(driver, "map", pixels)
        assert not any(referer for _, referer in Tiles.asked), Tiles.asked
        # Both hubs are on one host, and later parts use the cookie of the first.
        width(driver, 1440)
        log_out(driver)
    server.shutdown()
    width(driver, 800)


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
    for address in [*(f"{hub.address}/page/{place}" for place in PLACES), hub.address + "/page/type/bodyMass", sample_page, *ingests,
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
    assert len(rows) > 20 and not one(driver, "[data-chart]").is_displayed() and one(driver, "noscript svg").is_displayed()
    one(driver, "details.behind summary").click()
    assert rows[0].is_displayed()
    driver.get(hub.address + "/page/all")
    assert len(driver.find_elements(By.CSS_SELECTOR, ".card .num")) > 5
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
                 for name in ["page.css", "forms.css", "page.js", "chart.js", "files.js", "login.js", "icon.svg"])
    assert octets <= MOST_OCTETS, f"{octets} octets"
    plain = sum(len(hub.get(f"/page/static/{name}", {})[1]) for name in ["page.css", "page.js", "chart.js"])
    assert plain <= MOST_PLAIN_OCTETS, f"{plain} octets, unpacked"
    page = max(len(hub.get("/page/" + place, {"Accept-Encoding": "gzip", **cookie})[1]) for place in PLACES)
    assert page <= MOST_OCTETS, f"{page} octets"
    return octets + page


def close(driver, hub):
    cookie = session(driver)
    assert hub.get("/page/data/today", cookie)[0] == 200
    driver.get(hub.address + "/page/")
    log_out(driver)
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
            if is_walked("see_all"):
                step("each view at each width")
                see_all(driver)
            width(driver, 800)
            step("login")
            open_page(driver, hub)
            for walk, *more in [(pulse_moves,), (charts,), (phone,), (programs, token), (grants, token), (care,), (repairs,), (files,), (devices,), (household,), (cards,), (settings,), (hostile_names,), (without_scripts,)]:
                if is_walked(walk.__name__):
                    step(walk.__name__.replace("_", " "))
                    walk(driver, hub, *more)
            octets = size(driver, hub)
            close(driver, hub)
            # Apart from the form that asks for a code, the lost connection, the word for a temperature, and an icon that still loads when the page is left,
            # nothing failed and nothing was refused by the policy.
            expected = ["following icon from the Manifest", " 401 ", "ERR_INTERNET_DISCONNECTED", "/page/add - Failed to load resource: the server responded with a status of 422"]
            errors = [entry["message"] for entry in driver.get_log("browser") if not any(each in entry["message"] for each in expected)]
            assert not errors, errors
        finally:
            driver.quit()
    print(f"page: {browsing.checked} looked at by axe, {octets:,} octets packed, {time.monotonic() - begin:.0f} s")


main()
