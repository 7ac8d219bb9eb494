# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Planes in a real browser: contour lines, surfaces that rotate, and the fallback without WebGL."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import SWITCHES, Browser, started
from grain import grain, over_ranks, over_serial

from hockney.draw.palette import DARK, LIGHT
from hockney.report import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLOT = "document.querySelector('.plot')"
FIGURE = "document.querySelector('figure')"
VIEW = f"{FIGURE}.querySelector('.tools button')"
EYE = f"return {PLOT}._fullLayout.scene?.camera.eye.x"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(
        grain((over_serial(10000), over_ranks(15))), tmp_path_factory.mktemp("planes") / "report.html"
    )


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that draws in three dimensions without a graphics processor."""
    kept = [s for s in SWITCHES if s != "--disable-gpu"]
    with started(tmp_path_factory.mktemp("surfaces"), [*kept, "--enable-unsafe-swiftshader"]) as browser:
        yield browser


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    switches = [*SWITCHES, "--disable-webgl", "--disable-webgl2", "--disable-3d-apis"]
    with started(tmp_path_factory.mktemp("flat"), switches) as browser:
        yield browser


def complaints(browser: Browser) -> list[str]:
    """All messages except the software renderer's about its own speed."""
    return [
        text for text in browser.console() if "GPU stall" not in text and "willReadFrequently" not in text
    ]


def test_contour_lines_come_first_and_hovering_says_all_sheets(browser: Browser, page: Path):
    browser.shape(1280, 900)
    browser.open(page)
    assert (
        browser.run(
            "return document.querySelectorAll('figure.live .contour, figure.live .scatterlayer').length"
        )
        >= 2
    )
    browser.run(f"{PLOT}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    labels = browser.run(f"return [...{PLOT}.querySelectorAll('.textpoint')].map(t => t.textContent)")
    assert {label for sheet in over_serial(10000).sheets for _, label in sheet.levels} <= set(labels)
    box = browser.run(
        f"const b = {PLOT}.querySelector('.nsewdrag').getBoundingClientRect();"
        "return [b.x, b.y, b.width, b.height]"
    )
    for part in (0.6, 0.75):
        browser.mouse("mouseMoved", box[0] + box[2] * part, box[1] + box[3] / 2)
    text = browser.until(f"return {PLOT}.querySelector('.hoverlayer .hovertext')?.textContent")
    assert re.search(r"\d s, \D+0\.\d+2 \D+0\.\d+4 \D+0\.\d+8 \D+0\.\d+$", text), text
    assert browser.console() == [] and browser.requests() == []


def test_a_surface_is_drawn_turned_and_given_back(surfaces: Browser, tmp_path: Path):
    from selenium.webdriver.common.by import By

    browser = surfaces
    # Small, since every pixel is drawn without a graphics processor.
    browser.shape(600, 500)
    browser.open(write(grain((over_ranks(6),)), tmp_path / "report.html"))
    assert browser.run("return document.querySelectorAll('canvas').length") == 0, "no WebGL unless asked for"
    browser.run(f"{VIEW}.click()")
    browser.until("return performance.getEntriesByName('hockney-surface').length")
    assert browser.run(f"return {PLOT}.querySelectorAll('.gl-container canvas').length") >= 1
    assert browser.run(f"return {VIEW}.textContent") == "contours"
    before = browser.run(EYE)
    plot = browser.driver.find_element(By.CSS_SELECTOR, ".plot")
    plot.send_keys("\ue012")  # the left arrow
    browser.until(f"{EYE.replace('return', 'const x =')}; return Math.abs(x - {before}) > .05")
    browser.theme(dark=True)
    colour = f"{PLOT}._fullData[0].colorscale[0][1]"
    browser.until(f"return {colour} === '{DARK.series[0]}'")
    assert browser.run(EYE) != before, "a change of theme keeps the view"
    browser.run(f"{FIGURE}.querySelector('.legend button').click()")
    browser.until(f"return {PLOT}._fullData[0].visible === false")
    plot.send_keys("0")
    browser.until(f"{EYE.replace('return', 'const x =')}; return Math.abs(x - {before}) < 1e-6")
    plot.send_keys("s")
    browser.until("return performance.getEntriesByName('hockney-contours').length")
    assert browser.run(f"return [{PLOT}.querySelectorAll('canvas').length, {VIEW}.textContent]") == [
        0,
        "surface",
    ]
    assert browser.run(f"return {PLOT}._fullData[1].visible") is False, "what was switched off stays off"
    browser.theme(dark=False)
    browser.until(f"return {PLOT}._fullData[2].line.color === '{LIGHT.series[1]}'")
    assert complaints(browser) == []


def test_without_webgl_the_still_surface_is_shown(flat: Browser, page: Path):
    browser = flat
    browser.shape(1280, 900)
    browser.open(page)
    assert browser.run("return document.createElement('canvas').getContext('webgl')") is None
    shown = (
        "return [...document.querySelector('.still').children]"
        ".map(s => s.getBoundingClientRect().height > 50)"
    )
    assert browser.run(shown) == [False, False]
    browser.run(f"{VIEW}.click()")
    browser.until(f"return {FIGURE}.classList.contains('flat')")
    assert browser.run(shown) == [True, False]
    assert browser.run(f"return {PLOT}.getBoundingClientRect().height") == 0
    browser.theme(dark=True)
    browser.theme(dark=False)
    browser.run(f"{VIEW}.click()")
    browser.until(f"return {PLOT}.getBoundingClientRect().height > 100")
    assert browser.run(shown) == [False, False]
    assert browser.console() == []


@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True)])
def test_planes_fit_the_screen(browser: Browser, page: Path, width, mobile):
    browser.shape(width, 844, mobile=mobile)
    browser.open(page)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.console() == []


def test_both_pictures_are_printed_and_the_explorer_s_answer(browser: Browser, page: Path):
    browser.shape(690, 1000)
    browser.open(page)
    browser.send("Emulation.setEmulatedMedia", media="print")
    visible = browser.run(
        "const tall = css => [...document.querySelectorAll(css)]"
        ".map(e => e.getBoundingClientRect().height > 50);"
        "return [tall('.still svg'), tall('.plot'), tall('.sketch'), tall('.answer'),"
        "[...document.querySelectorAll('.choices button')].map(e => e.offsetHeight > 0)]"
    )
    browser.send("Emulation.setEmulatedMedia", media="")
    assert visible == [[True] * 4, [False] * 2, [True] * 2, [True], [True, False]]
    pdf = base64.b64decode(
        browser.send("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
    )
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6
