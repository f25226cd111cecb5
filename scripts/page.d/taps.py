"""The ten tasks of a household on a phone: each needs at most three taps from Today. Typing is not a tap."""

import datetime

from browsing import center, is_gone, one, text
from hub import eventually, width
from selenium.webdriver.common.by import By

MOST_TAPS = 3


class Taps:
    """Counts what is tapped for one task."""

    def __init__(self, driver, hub, task):
        self.driver, self.task, self.count = driver, task, 0
        driver.get(hub.address + "/page/")

    def tap(self, selector, loads=True):
        """Taps an element that is in sight, or can be scrolled to."""
        page, element = one(self.driver, "html"), one(self.driver, selector)
        center(self.driver, element)
        element.click()
        self.count += 1
        if loads:
            eventually(f"{self.task}: {selector} loads a page", lambda: is_gone(page))

    def type(self, words):
        """Types into the field that has the focus."""
        field = self.driver.switch_to.active_element
        assert field.tag_name == "input", f"{self.task}: no field has the focus"
        field.clear()
        field.send_keys(words)

    def done(self, words, selector="main"):
        eventually(f"{self.task}: {words}", lambda: words in text(self.driver, selector))
        assert self.count <= MOST_TAPS, f"{self.task} needs {self.count} taps"
        return self.count


def card(kind):
    return f"[data-type={kind}] a"


def taps(driver, hub, now):
    """Does the tasks, and gives the number of taps of each."""
    width(driver, 360)
    hub.run("people", "add", "Ben", codes=(0, 65))
    at = (now - datetime.timedelta(minutes=40)).isoformat()
    hub.run("import", "--person", "Ben", hub.write("ben.csv", f"time,type,value,unit\n{at},bodyTemperature,38.6,Cel\n"))
    counts = {}

    def task(name):
        return Taps(driver, hub, name)

    steps = task("today's steps")
    counts["today's steps"] = steps.done("steps", "[data-type=stepCount]")
    night = task("last night")
    night.tap("nav.tabs a[href='/page/type/sleepAnalysis']")
    counts["last night"] = night.done("REM")
    year = task("a year of weight")
    year.tap(card("bodyMass"))
    year.tap("[data-range=year]", loads=False)
    counts["a year of weight"] = year.done("kg on average")
    weight = task("add a weight")
    weight.tap("a.add")
    weight.tap("a[href='/page/add?type=bodyMass']")
    weight.type("74.9")
    weight.tap("form.entry button")
    counts["add a weight"] = weight.done("74.9 kg")
    correction = task("correct a weight")
    correction.tap(card("bodyMass"))
    correction.tap("main a[href$='/correct']")
    correction.type("74.8")
    correction.tap("form.entry button")
    counts["correct a weight"] = correction.done("74.8 kg")
    report = task("a report for a doctor")
    report.tap(card("bloodPressure"))
    report.tap("main a[href^='/page/report']")
    counts["a report for a doctor"] = report.done("Blood Pressure", ".report h2")
    fever = task("a child's fever")
    fever.tap("details.who summary", loads=False)
    fever.tap("[aria-label='Switch to Ben in this browser']")
    counts["a child's fever"] = fever.done("38.6 °C", "h1")
    back = task("back to one's own page")
    back.tap("details.who summary", loads=False)
    back.tap(".menu form[action='/page/people/back'] button")
    counts["back to one's own page"] = back.done("steps")
    child = task("a temperature for a child")
    child.tap("a.add")
    child.tap("a[href='/page/add?type=bodyTemperature']")
    child.type("38.4")
    button = next(each for each in driver.find_elements(By.CSS_SELECTOR, "form.entry button") if each.text == "Save for Ben")
    driver.execute_script("arguments[0].id = 'ben'", button)
    child.tap("#ben")
    counts["a temperature for a child"] = child.done("38.4 °C")
    invitation = task("invite a person")
    invitation.tap("details.who summary", loads=False)
    invitation.tap(".menu a[href='/page/people']")
    invitation.tap("[aria-label$='login code for Ben']")
    counts["invite a person"] = invitation.done("-", ".value")
    program = task("let a program read")
    program.tap(card("bloodGlucose"))
    program.tap("details.behind:last-of-type summary", loads=False)
    program.tap("details.behind:last-of-type form button")
    counts["let a program read"] = program.done("Blood Glucose", "h1")
    assert "bloodGlucose" in hub.run("clients", "grants", "grafana")
    right = task("readings that are right")
    right.tap("form[action='/page/care/dismiss'] button")
    right.done("steps")
    assert not driver.find_elements(By.CSS_SELECTOR, "form[action='/page/care/dismiss']"), "they are still doubted"
    counts["readings that are right"] = right.count
    return counts
