"""The page in a browser: its main task, by keyboard too, and a recipe that means harm.

With SCREENSHOTS naming a folder, the pictures for the documentation are written there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from hostile import hostile
from live_server import PATIENCE, LiveServer
from tools import tool

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--window-size=1280,1400")  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = tool("chromium")
    folder = tmp_path_factory.mktemp("browser")
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver: Any = webdriver.Chrome(options=options, service=Service(tool("chromedriver")))
    driver.downloads = folder
    yield driver
    driver.quit()


def ask(browser: Any, server: LiveServer, file: Path, deployer: str, button: str) -> None:
    browser.get(server.url)
    browser.find_element(By.ID, "from").send_keys(str(file))
    Select(browser.find_element(By.ID, "deployer")).select_by_visible_text(deployer)
    browser.find_element(By.CSS_SELECTOR, f"button[value={button}]").click()
    WebDriverWait(browser, PATIENCE).until(
        lambda page: page.find_elements(By.CSS_SELECTOR, "#answer h1, #failed:not(:empty)")
    )


def picture(browser: Any, name: str, *, dark: bool = False) -> None:
    if not SCREENSHOTS:
        return
    scheme = "dark" if dark else "light"
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    whole = browser.execute_script("return document.documentElement.scrollHeight")
    height = min(whole, 1600)
    size = {"width": 1280, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_script("scrollTo(0, 0)")
    browser.save_screenshot(str(Path(SCREENSHOTS) / f"{name}.png"))
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def no_complaints(browser: Any) -> None:
    assert [one for one in browser.get_log("browser") if one["level"] == "SEVERE"] == []


def test_is_the_move_safe(browser: Any, server: LiveServer, old_recipe: Path) -> None:
    ask(browser, server, old_recipe, "helm", "check")
    answer = browser.find_element(By.ID, "answer")
    assert "It can go ahead, with work by hand" in answer.text
    first = browser.find_element(By.CSS_SELECTOR, "#answer ol.todo a")
    row = browser.find_element(By.CSS_SELECTOR, first.get_attribute("hash"))
    assert not row.is_displayed()
    first.send_keys(Keys.ENTER)
    WebDriverWait(browser, PATIENCE).until(lambda _: row.is_displayed())
    assert "Precondition" in row.text
    assert "Steps (deployer: helm)" in row.text
    assert len(browser.find_elements(By.CSS_SELECTOR, "#answer svg rect")) == 14
    picture(browser, "page-check")
    browser.find_element(By.LINK_TEXT, "Report as JSON").click()
    report = browser.downloads / "report.json"
    WebDriverWait(browser, PATIENCE).until(lambda _: report.exists())
    assert json.loads(report.read_text("utf-8"))["summary"]["failing"] == 4
    no_complaints(browser)


def test_rows_open_by_keyboard(browser: Any, server: LiveServer, old_recipe: Path) -> None:
    ask(browser, server, old_recipe, "flux", "check")
    summary = browser.find_element(By.CSS_SELECTOR, "#answer details.row summary")
    summary.send_keys(Keys.SPACE)
    assert browser.find_element(By.CSS_SELECTOR, "#answer details.row[open] ol").is_displayed()
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    closed = "#answer details.row:not([open])"
    assert browser.find_elements(By.CSS_SELECTOR, closed) == []
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert len(browser.find_elements(By.CSS_SELECTOR, closed)) == 3


def test_the_plan(browser: Any, server: LiveServer, old_recipe: Path) -> None:
    far = old_recipe.with_name("aks-h100-training-kubeflow-v0.16.0.yaml")
    ask(browser, server, far, "argocd", "plan")
    head = browser.find_elements(By.CSS_SELECTOR, "#answer .matrix thead th")
    assert [one.text.split()[0] for one in head] == ["Component", "Stage", "Stage"]
    picture(browser, "page-plan", dark=True)
    hop = browser.find_element(By.CSS_SELECTOR, "#answer .matrix details summary")
    hop.click()
    assert "Steps" in browser.find_element(By.CSS_SELECTOR, "#answer .matrix details").text
    no_complaints(browser)


def test_criteria_narrow_down_and_give_a_bundle(browser: Any, server: LiveServer) -> None:
    browser.get(server.url)
    os_select = Select(browser.find_element(By.NAME, "os"))
    Select(browser.find_element(By.NAME, "service")).select_by_visible_text("gke")
    WebDriverWait(browser, PATIENCE).until(
        lambda _: not next(one for one in os_select.options if one.text == "talos").is_enabled()
    )
    os_select.select_by_visible_text("cos")
    Select(browser.find_element(By.NAME, "intent")).select_by_visible_text("training")
    browser.find_element(By.CSS_SELECTOR, "button[value=recipe]").click()
    WebDriverWait(browser, PATIENCE).until(
        lambda page: page.find_elements(By.CSS_SELECTOR, "#answer svg")
    )
    picture(browser, "page-recipe")
    Select(browser.find_element(By.ID, "deployer")).select_by_visible_text("helm")
    browser.find_element(By.CSS_SELECTOR, "button[value=bundle]").click()
    archive = browser.downloads / "bundle-helm.zip"
    WebDriverWait(browser, PATIENCE).until(lambda _: archive.exists())
    assert "downloaded" in browser.find_element(By.ID, "said").text
    ask(browser, server, archive, "helm", "check")
    assert "Nothing" in browser.find_element(By.ID, "answer").text
    no_complaints(browser)


def test_a_refusal_says_what_to_do(browser: Any, server: LiveServer, tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("kind: RecipeResult\n", "utf-8")
    ask(browser, server, file, "helm", "check")
    said = browser.find_element(By.ID, "failed").text
    assert "broken.yaml" in said
    assert "no components" in said
    browser.get_log("browser")  # the browser itself notes the status 400


def test_a_hostile_recipe(browser: Any, server: LiveServer, tmp_path: Path) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(hostile("1")), "utf-8")
    other = tmp_path / "other.json"
    other.write_text(json.dumps(hostile("2")), "utf-8")
    browser.get(server.url)
    browser.execute_script("window.alert = () => { window.harmed = true; };")
    browser.find_element(By.ID, "from").send_keys(str(file))
    browser.find_element(By.ID, "to").send_keys(str(other))
    Select(browser.find_element(By.ID, "deployer")).select_by_visible_text("helm")
    browser.find_element(By.CSS_SELECTOR, "button[value=check]").click()
    WebDriverWait(browser, PATIENCE).until(
        lambda page: page.find_elements(By.CSS_SELECTOR, "#answer h1, #failed:not(:empty)")
    )
    assert "<script>alert(1)</script>" in browser.find_element(By.ID, "answer").text
    assert not browser.execute_script("return window.harmed")
    assert browser.find_elements(By.CSS_SELECTOR, "#answer img, #answer script") == []
    no_complaints(browser)


def test_the_report_of_the_command_stands_alone(
    browser: Any, old_recipe: Path, tmp_path: Path
) -> None:
    from command import run_aicr

    report = tmp_path / "report.html"
    flags = ["--from", str(old_recipe), "--deployer", "helm", "--format", "html"]
    assert run_aicr("upgrade-check", *flags, "-o", report).returncode == 2
    browser.get(report.as_uri())
    assert "It can go ahead" in browser.find_element(By.TAG_NAME, "body").text
    browser.find_element(By.CSS_SELECTOR, "ol.todo a").click()
    assert browser.find_element(By.ID, "row-1").is_displayed()
    no_complaints(browser)
