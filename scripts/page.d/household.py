"""What a household does on the page: a report, an entry, an alert, and the order of the cards."""

import json
import time

from browsing import center, is_gone, look_for_barriers, one, open_tables, press, put, text
from hub import eventually, session, width
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


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
            open_tables(driver)
            press(driver, one(driver, "main a[href^='/page/sample/']"))
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
    driver.get(hub.address + "/page/all")
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
    driver.get(hub.address + "/page/all")
    assert set(keys()) == set(before) - {"heartRate"} and keys() != [each for each in before if each != "heartRate"], keys()
    assert "Hidden cards: 1" in text(driver)
    # A reading of the hidden card does not load the page again and again.
    driver.execute_script("window.unchanged = document.querySelector('main section')")
    time.sleep(3)
    assert driver.execute_script("return window.unchanged.isConnected"), "the page is loaded for a hidden card"
    driver.get(hub.address + "/page/cards")
    press(driver, one(driver, "button[value=reset]"))
    driver.get(hub.address + "/page/all")
    assert keys() == before, keys()
    width(driver, 800)


def report(driver, hub):
    """The blood pressures of a month for a doctor: printed without the page's buttons, and as a table."""
    driver.get(hub.address + "/page/report")
    for name, day in [("from", "2026-11-01"), ("until", "2026-11-30")]:
        put(driver, one(driver, f"#{name}"), day)
    kinds = driver.find_elements(By.CSS_SELECTOR, "input[name=type][value^=bloodPressure]")
    assert kinds, "a report of blood pressures is offered"
    for kind in kinds:
        center(driver, kind)
        kind.click()
    press(driver, driver.find_element(By.XPATH, "//button[text()='Show report']"))
    drawn = driver.execute_script("return getComputedStyle(document.querySelector('.report .ranges')).stroke")
    assert drawn.startswith("rgb"), f"a pressure of the report is drawn in {drawn}"
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
    press(driver, driver.find_element(By.XPATH, "//button[starts-with(text(), 'Save')]"))
    assert driver.find_elements(By.CSS_SELECTOR, "[aria-invalid=true], .problem"), "a word is not a number"
    field = one(driver, "#value")
    field.clear()
    field.send_keys(temperature)
    press(driver, driver.find_element(By.XPATH, "//button[starts-with(text(), 'Save')]"))
    assert "Saved" in text(driver) and f"{temperature} °C" in text(driver), text(driver)
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
    # Today is open when it happens, and is not loaded again.
    driver.get(hub.address + "/page/")
    hub.run("add", "bloodGlucose", "61" if value == 360 else "62", "mg/dL")
    eventually("the page warns", lambda: "below 70" in text(driver), 60)
    look_for_barriers(driver, "a warning")
    hub.run("add", "bloodGlucose", "99", "mg/dL")
    number = json.loads(hub.run("alerts", "list", "--format", "ndjson").splitlines()[-1])["alert"]
    hub.run("alerts", "remove", str(number))
