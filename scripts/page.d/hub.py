"""A demo hub with its page, and a browser that opens it: for scripts/check-page and the benchmark's rows of the page."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def eventually(what, condition, seconds=20):
    """Waits until a condition gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(Exception):
            if found := condition():
                return found
        time.sleep(0.05)
    raise AssertionError(f"this did not come about: {what}")


class Hub:
    """A hub with two simulated sensors, an inbox and a page, in a folder that goes with it. `page` and `zone` are the configuration's keys `page` and `timeZone`."""

    def __init__(self, program, page="{}", zone="Europe/Berlin"):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vitalgate-page-"))
        (self.folder / "inbox").mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        targets = f'targets: {{ archive: {{ kind: "files", folder: "{self.folder}/archive" }} }}'
        (self.folder / "config.json5").write_text(
            f'{{ api: {{ listen: "127.0.0.1:{self.port}" }}, timeZone: "{zone}", page: {page}, {targets} }}')
        with open(self.folder / "hub.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                self.words("run", "--simulate", "--inbox", str(self.folder / "inbox")), stderr=log, start_new_session=True)
        eventually("the hub listens", lambda: "listening at" in (self.folder / "hub.log").read_text())

    def words(self, *words):
        return [self.program, "--store", str(self.folder / "hub.vitalgate"), "--config", str(self.folder / "config.json5"), *words]

    def run(self, *words, codes=(0,)):
        ran = subprocess.run(self.words(*words), capture_output=True, text=True, cwd=ROOT, check=False)
        assert ran.returncode in codes, f"{words}: {ran.returncode}: {ran.stderr}"
        return ran.stdout

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def get(self, path, headers):
        """Status and octets, as they go over the wire."""
        request = urllib.request.Request(self.address + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def browser():
    """Debian's Chromium, without a screen."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"]:
        options.add_argument(word)
    if os.getuid() == 0:
        # As root there is no sandbox; nothing but our own page is opened.
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    return driver


def width(driver, pixels, height=900):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": pixels, "height": height, "deviceScaleFactor": 1, "mobile": pixels < 600})


def prefer(driver, language="en", scheme="light"):
    """The language and the color scheme that the browser asks for."""
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def session(driver):
    """The cookie of the page, as a header."""
    for cookie in driver.execute_cdp_cmd("Network.getAllCookies", {})["cookies"]:
        if cookie["name"].startswith("vitalgate-page-"):
            assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["path"] == "/page", json.dumps(cookie)
            return {"Cookie": f"{cookie['name']}={cookie['value']}"}
    raise AssertionError("the browser has no session")
