"""What every walk through the page needs: options, look-ups, presses, axe, and pictures."""

import argparse
import base64
import importlib.util
import pathlib
import sys

from hub import eventually
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By

WIDTHS = [360, 800, 1440]
MOST_HEIGHT = 12_000

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


def look_for_overlaps(driver, place):
    """The texts of a drawing are apart, and none is cut off at its edge."""
    found = driver.execute_script("""
        const found = [];
        for (const svg of document.querySelectorAll("main svg:not(svg svg, .i, .map svg, .ecg)")) {
            const texts = [...svg.querySelectorAll("text")].filter((each) => each.textContent).map((each) => [each.textContent, each.getBoundingClientRect()]);
            texts.forEach(([one, box], at) => {
                if (box.width && (box.left < -1 || box.right > innerWidth + 1)) found.push(one);
                for (const [other, beside] of texts.slice(at + 1)) {
                    const width = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
                    if (width > 1 && Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top) > 4) found.push(one + " | " + other);
                }
            });
        }
        return found;""")
    assert not found, f"{place}: texts of a drawing overlap: {found}"


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


def center(driver, element):
    """Scrolls to an element, so that the bar at the bottom of a phone does not cover it."""
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)


def press(driver, button):
    """Presses a button that loads a page, and waits until that page has taken the place of this one."""
    before = one(driver, "html")
    center(driver, button)
    button.click()
    eventually("another page is loaded", lambda: is_gone(before))


def open_tables(driver):
    """Opens what is behind a press."""
    driver.execute_script("document.querySelectorAll('details.behind').forEach((each) => { each.open = true; })")


def log_out(driver):
    one(driver, "details.who summary").click()
    press(driver, one(driver, "form[action='/page/logout'] button"))


def leave(driver):
    """Logs out of one of several hubs. All are on one host, so no cookie of this one is left: an answer that came late may have renewed it."""
    log_out(driver)
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})


def put(driver, field, day):
    """A day, as a browser's picker puts it into a field."""
    driver.execute_script("arguments[0].value = arguments[1]", field, day)


def picture(driver, name, pixels, dark=False, language="en"):
    """A picture of the whole page, also of what one has to scroll to, if a folder for pictures was given."""
    if not arguments.screenshots:
        return
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    size = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": pixels, "height": min(size["height"], MOST_HEIGHT), "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    words = [name, language, str(pixels)] + (["dark"] if dark else [])
    (arguments.screenshots / ("-".join(words) + ".png")).write_bytes(base64.b64decode(shot["data"]))
