"""Measures the page in a browser, and prints an object of JSON: for the benchmark's rows of the page."""

import argparse
import contextlib
import http.client
import json
import random
import time

from hub import Hub, browser, eventually, width

FILES = ["page.css", "forms.css", "page.js", "chart.js", "files.js", "login.js", "icon.svg"]
# "3G" of Chromium's developer tools: milliseconds, octets a second.
LATENCY, RATE = 562.5, 180_000

parser = argparse.ArgumentParser()
parser.add_argument("--vitalgate", required=True)
parser.add_argument("--commits", type=int, default=100)
parser.add_argument("--paints", type=int, default=5)
arguments = parser.parse_args()


def commits(hub, driver, token):
    """From a request that has the hub store a reading until the page shows it, in milliseconds: the commit is in it, the start of a program is not."""
    driver.get(hub.address + "/page/all")
    driver.execute_script("""
        window.seen = [];
        new MutationObserver(() => window.seen.push(Date.now()))
            .observe(document.querySelector('[data-type=bodyMass]'), {subtree: true, childList: true, characterData: true});""")
    eventually("the page is live", lambda: driver.execute_script("return !document.getElementById('live').hidden"))
    taken = []
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", hub.port, timeout=20)) as connection:
        for number in range(arguments.commits):
            start = f"2026-06-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"
            sample = {"type": "bodyMass", "start": start, "value": 70 + number / 100, "unit": "kg"}
            begin = time.time()
            connection.request("POST", "/v1/samples", json.dumps(sample), {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
            # Readings are told apart by their time, since the page rounds.
            eventually("the page shows it", lambda: len(driver.execute_script("return window.seen")) > 0)
            taken.append(driver.execute_script("return window.seen[0]") - begin * 1000)
            # Not in step with whatever the hub does once in a while.
            time.sleep(0.05 + random.random() / 10)
            driver.execute_script("window.seen = []")
    return taken


def paints(hub, driver):
    """Until the first content is painted, with an empty cache on a slow telephone."""
    taken = []
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 6})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": LATENCY, "downloadThroughput": RATE, "uploadThroughput": RATE / 2})
    driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    for _ in range(arguments.paints):
        driver.get(hub.address + "/page/")
        taken.append(eventually("something is painted", lambda: driver.execute_script(
            "const paint = performance.getEntriesByName('first-contentful-paint')[0]; return paint && paint.startTime")))
    return taken


def main():
    with Hub(arguments.vitalgate) as hub:
        hub.run("import", "Examples/heart-rate.csv", "Examples/steps.csv", "--time-zone", "Europe/Berlin")
        hub.run("import", hub.write("first.csv", "time,type,value,unit\n2026-05-31T07:00:00Z,bodyMass,69,kg\n"))
        token = hub.run("clients", "add", "bench", "--purpose", "Measures").strip()
        hub.run("clients", "grant", "bench", "--write", "bodyMass")
        driver = browser()
        try:
            width(driver, 360)
            driver.get(hub.run("page", "open").strip())
            eventually("the page is open", lambda: driver.title.startswith("Today"))
            told = {"commits": commits(hub, driver, token), "paints": paints(hub, driver)}
        finally:
            driver.quit()
        told["octets"] = sum(len(hub.get(f"/page/static/{name}", {"Accept-Encoding": "gzip"})[1]) for name in FILES)
    print(json.dumps(told))


main()
