"""Programs that read a person's samples, and the grants on the page."""

import json
import threading
import time
import urllib.request

from browsing import look_for_barriers, one, press, put, text
from hub import ROOT, eventually
from selenium.webdriver.common.by import By


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
