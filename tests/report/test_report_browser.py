# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The report as seen by readers: with mouse and keyboard, on a phone, in the dark theme, on paper."""

from __future__ import annotations

import base64
import contextlib
import io
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from chromium import Browser
from golden_files import Golden
from hostile import hostile
from PIL import Image
from sample import sample
from tiers import slow

from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.draw.palette import DARK, LIGHT
from hockney.report import write

pytestmark = pytest.mark.browser
Opened = Callable[..., Browser]

FIRST = "document.querySelector('.plot')"
RANGE = f"return {FIRST}._fullLayout.xaxis.range.map(v => +v.toFixed(6))"


OUTSIDE = """return [...document.querySelectorAll('body *')]
    .filter(e => !e.closest('.scroll, svg, .skip') && e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 80))"""


FORBIDDEN = "iframe, img, object, embed, form, textarea, .plot a"
HANDLERS = """return [...document.querySelectorAll('*')]
    .filter(e => [...e.attributes].some(a => /^on/.test(a.name))).map(e => e.outerHTML.slice(0, 80))"""


def drag_area(browser: Browser) -> dict[str, float]:
    """The first figure's plotting area, scrolled into the middle of the screen, in pixels of the window."""
    browser.run(f"{FIRST}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    return browser.run(
        f"const b = {FIRST}.querySelector('.nsewdrag').getBoundingClientRect();"
        "return {x: b.x, y: b.y, w: b.width, h: b.height}"
    )


def colours(picture: bytes) -> list[tuple[int, tuple[int, int, int]]]:
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    return sorted(image.getcolors(image.width * image.height), reverse=True)


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


def test_a_page_of_twelve_figures_is_alive_asks_for_nothing_and_complains_of_nothing(sample_page: Opened):
    browser = sample_page(whole=True)
    assert browser.run("return location.protocol") == "file:"
    assert browser.run("return document.querySelectorAll('figure.live .main-svg').length") >= 12
    assert browser.console() == []
    assert browser.requests() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "height", "dark", "mobile"),
    [
        (1280, 900, False, False),
        *slow((1280, 900, True, False)),
        *slow((390, 844, False, True)),
        (390, 844, True, True),
    ],
)
def test_it_fits_the_screen_in_its_theme_s_colours(sample_page: Opened, width, height, dark, mobile):
    browser = sample_page(width, height, dark, mobile, whole=dark == mobile)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    wide = browser.run(OUTSIDE)
    assert wide == []
    drag_area(browser)
    theme = DARK if dark else LIGHT
    counted = colours(browser.picture())
    assert len(counted) > 50
    assert counted[0][1] in (rgb(theme.paper), rgb(theme.card))
    assert {rgb(theme.series[0]), rgb(theme.series[1])} <= {colour for count, colour in counted if count > 20}


@pytest.mark.slow
def test_hovering_shows_value_interval_and_size(sample_page: Opened, golden: Golden):
    browser = sample_page()
    drag_area(browser)
    x, y = browser.run(
        f"const p = {FIRST}.querySelectorAll('.scatterlayer .points path')[4].getBoundingClientRect();"
        "return [p.x + p.width / 2, p.y + p.height / 2]"
    )
    browser.mouse("mouseMoved", x - 30, y - 60)
    browser.mouse("mouseMoved", x, y)
    text = browser.until(f"return {FIRST}.querySelector('.hoverlayer .hovertext')?.textContent")
    golden("hovering.txt", text)


def double_click(browser: Browser, place: tuple[float, float], works: str) -> None:
    """Again until it works: on a busy machine the second click may be too late to count as a double click."""
    for last in (False,) * 60 + (True,):
        for count in (1, 2):
            browser.mouse("mousePressed", *place, button="left", clickCount=count)
            browser.mouse("mouseReleased", *place, button="left", clickCount=count)
        with contextlib.suppress(*() if last else (AssertionError,)):
            browser.until(works, seconds=4)
            return


@pytest.mark.slow
def test_dragging_zooms_gives_finer_ticks_and_a_double_click_goes_back(sample_page: Opened):
    browser = sample_page()
    area = drag_area(browser)
    before, labels = (
        browser.run(RANGE),
        f"return [...{FIRST}.querySelectorAll('.xtick text')].map(t => t.textContent)",
    )
    assert {"0", "1 B", "1 MiB"} <= set(browser.run(labels))
    browser.drag(
        (area["x"] + area["w"] * 0.55, area["y"] + 40),
        (area["x"] + area["w"] * 0.75, area["y"] + area["h"] - 40),
    )
    browser.until(f"{RANGE.replace('return', 'const r =')}; return r[0] > {before[0] + 1}")
    low, high = browser.run(RANGE)
    assert before[0] < low < high < before[1]
    browser.until(f"return [...{FIRST}.querySelectorAll('.xtick text')].some(t => t.textContent === '8 KiB')")
    assert not browser.run("return document.querySelector('.tools button').hidden")
    middle = (area["x"] + area["w"] / 2, area["y"] + area["h"] / 2)
    double_click(
        browser,
        middle,
        f"{RANGE.replace('return', 'const r =')}; return r[0] === {before[0]} && r[1] === {before[1]}",
    )
    assert browser.run("return document.querySelector('.tools button').hidden")
    assert browser.console() == []


@pytest.mark.slow
def test_the_wheel_scrolls_the_page_until_the_figure_is_taken_hold_of(sample_page: Opened):
    browser = sample_page()
    area = drag_area(browser)
    before, top = browser.run(RANGE), browser.run("return scrollY")
    middle = (area["x"] + area["w"] / 2, area["y"] + area["h"] / 2)
    browser.mouse("mouseWheel", *middle, deltaX=0, deltaY=120)
    browser.until(f"return scrollY > {top}")
    assert browser.run(RANGE) == before
    area = drag_area(browser)
    browser.run(f"{FIRST}.focus()")
    browser.mouse("mouseWheel", *middle, deltaX=0, deltaY=-120)
    browser.until(
        f"{RANGE.replace('return', 'const r =')}; return r[1] - r[0] < {before[1] - before[0] - 0.01}"
    )


@pytest.mark.slow
def test_the_keyboard_reaches_zoom_legend_and_data(sample_page: Opened):
    browser = sample_page()
    before = browser.run(RANGE)
    from selenium.webdriver.common.by import By

    plot = browser.driver.find_element(By.CSS_SELECTOR, ".plot")
    plot.send_keys("+")
    browser.until(f"{RANGE.replace('return', 'const r =')}; return r[0] > {before[0]}")
    plot.send_keys("0")
    browser.until(f"{RANGE.replace('return', 'const r =')}; return r[0] === {before[0]}")
    button = browser.driver.find_element(By.CSS_SELECTOR, ".legend button")
    button.send_keys(" ")
    browser.until(f"return {FIRST}._fullData[0].visible === false")
    assert button.get_attribute("aria-pressed") == "false"
    summary = browser.driver.find_element(By.CSS_SELECTOR, ".data summary")
    summary.send_keys("\n")
    assert browser.run("return document.querySelector('.data').open")
    assert len(browser.driver.find_elements(By.CSS_SELECTOR, "#figure-latency .data tbody tr")) == 48


@pytest.mark.slow
def test_a_theme_switch_recolours_figures_and_keeps_the_zoom(sample_page: Opened):
    browser = sample_page()
    plot = f"{FIRST}._fullData[0].marker.color"
    assert browser.run(f"return {plot}") == LIGHT.series[0]
    browser.run(f"return Plotly.relayout({FIRST}, {{'xaxis.range': [1, 3]}}).then(() => 1)")
    browser.theme(dark=True)
    browser.until(f"return {plot} === '{DARK.series[0]}'")
    assert browser.run(RANGE) == [1, 3]
    browser.run("document.getElementById('theme').click()")
    browser.until(f"return {plot} === '{LIGHT.series[0]}'")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == f"rgb{rgb(LIGHT.paper)}"
    assert browser.run(RANGE) == [1, 3]


@pytest.mark.slow
def test_a_narrower_window_gives_fewer_ticks(sample_page: Opened):
    browser = sample_page()
    count = f"return {FIRST}.querySelectorAll('.xtick').length"
    wide = browser.run(count)
    browser.shape(390, 844)
    browser.until(
        f"return {FIRST}.querySelectorAll('.xtick').length < {wide} && {FIRST}._fullLayout.width < 390"
    )


@pytest.mark.slow
def test_small_figures_have_more_than_two_ticks(browser: Browser, tmp_path: Path):
    """Three in a row, as collectives, whose times span several decades."""
    axes = Axis("bytes", "B", zero=True), Axis("time", "s")
    series = Series("2 ranks", (0.0, 8.0, 2.0**20, 2.0**22), (60e-9, 500e-9, 1e-3, 5e-3))
    figures = tuple(Figure(f"small-{k}", f"Small {k}", *axes, (series,)) for k in range(3))
    page = replace(sample(), lead=None, sections=(Section("Small", figures=figures, multiples=True),))
    browser.open(write(page, tmp_path / "small.html"))
    ticks = (
        "return [...document.querySelectorAll('.multiples .plot')].map(p => p.querySelectorAll('.%s').length)"
    )
    for axis in ("xtick", "ytick"):
        assert min(browser.run(ticks % axis)) >= 3


REASON = "poor: the model is off by 5.1% in the median and by 184% at worst. " * 4
UNITS = ("ns", "ns/B", "GB/s")
PIECE = ("0 B", "46 B", *(f"0.0906 {unit} (95%: 0.0706 {unit} to 0.105 {unit})" for unit in UNITS))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "lines"), [(1280, 2), (1920, 1), (390, 2)])
def test_tables_use_the_width_of_the_window(browser: Browser, tmp_path: Path, width, lines):
    """Intervals move to a second line before a table scrolls, and a verdict stands beside all its rows."""
    wide = Table("wide", "Time of one message", ("from", "below", "a", "b", "c"), (PIECE,), (0, 1, 2, 3, 4))
    rows = (("L", "253 ns", REASON), *((symbol, "30 ns", "") for symbol in ("o_s", "O_s", "o_r", "g", "G")))
    merged = Table("merged", "Parameters", ("symbol", "value", "verdict"), rows, (1,), merged=(2,))
    section = Section("Tables", tables=(wide, merged))
    path = write(replace(sample(), lead=None, sections=(section,)), tmp_path / "tables.html")
    browser.shape(width, 900, mobile=width < 500)
    browser.open(path, figures=False)
    scrolled, height, span, cells = browser.run(
        "const tables = [...document.querySelectorAll('main table')];"
        "const cell = tables[0].querySelector('tbody td:nth-child(3)');"
        "const box = tables[0].parentElement;"
        "const height = cell.clientHeight / parseFloat(getComputedStyle(cell).lineHeight);"
        "return [box.scrollWidth - box.clientWidth, height,"
        "tables[1].querySelector('td:nth-child(3)').rowSpan, tables[1].querySelectorAll('td').length]"
    )
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert (span, cells) == (6, 13), "one cell of the verdict for all rows"
    assert round(height - 0.6) == lines
    assert (scrolled > 0) == (width == 390)


def overlapping(browser: Browser, css: str) -> list[str]:
    return browser.run(
        """const bad = [];
        for (const plot of document.querySelectorAll('.plot')) {
          const boxes = [...plot.querySelectorAll(arguments[0])].map(
            t => [t.textContent, t.getBoundingClientRect()]);
          boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
            const beside = p.right <= q.left + 1 || q.right <= p.left + 1;
            if (!beside && p.bottom > q.top + 2 && q.bottom > p.top + 2) bad.push(a + ' | ' + b);
          }));
        }
        return bad""",
        css,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True)])
def test_labels_do_not_overlap(sample_page: Opened, width, mobile):
    browser = sample_page(width, 844, mobile=mobile, whole=True)
    assert overlapping(browser, ".xtick text, .ytick text") == []
    assert overlapping(browser, ".annotation-text") == []


@pytest.mark.slow
def test_a_narrow_range_has_ticks_that_do_not_overlap(browser: Browser, tmp_path: Path):
    """One decade's tenths overlap, its thirds are fewer than two."""
    x = (143e-9, 202e-9, 219e-9, 263e-9)
    series = Series("barriers", x, tuple(0.98 * v for v in x))
    wide = Figure("narrow-range", "Predicted", Axis("predicted", "s"), Axis("measured", "s"), (series,))
    small = tuple(replace(wide, name=f"narrow-{k}") for k in range(3))
    sections = (Section("Wide", figures=(wide,)), Section("Small", figures=small, multiples=True))
    page = replace(sample(), lead=None, sections=sections)
    browser.open(write(page, tmp_path / "narrow.html"))
    assert overlapping(browser, ".xtick text, .ytick text") == []
    counts = browser.run(
        "return [...document.querySelectorAll('.plot')].map(p => p.querySelectorAll('.xtick').length)"
    )
    assert len(counts) == 4 and min(counts) >= 2


@pytest.mark.slow
def test_it_prints_every_figure_in_light_colours_without_navigation(browser: Browser, written: Path):
    browser.shape(1280, 900, dark=True)
    browser.open(written, figures=False)
    pdf = base64.b64decode(
        browser.send("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
    )
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 12
    streams = [s for s in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)]
    content = b"".join(zlib.decompressobj().decompress(s) for s in streams if s[:1] == b"x")
    assert content.count(b"BT") > 300, "text is drawn as text"
    browser.shape(690, 1000)  # A4 between its margins.
    browser.send("Emulation.setEmulatedMedia", media="print")
    cut = browser.run(
        "return [...document.querySelectorAll('main table, figure, figure svg')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.textContent.slice(0, 60))"
    )
    assert cut == [], "paper does not scroll"
    state = browser.run(
        "const shown = e => getComputedStyle(e).display !== 'none';"
        "const all = css => [...document.querySelectorAll(css)];"
        "return [all('.still').every(shown), all('.plot').some(shown),"
        "shown(document.querySelector('nav')), getComputedStyle(document.body).color]"
    )
    browser.send("Emulation.setEmulatedMedia", media="")
    assert state == [True, False, False, f"rgb{rgb(LIGHT.ink)}"]


@pytest.mark.slow
def test_without_javascript_the_figures_are_there(browser: Browser, written: Path):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(written, figures=False)
    box = browser.send("DOM.getDocument", depth=0)["root"]["nodeId"]
    still = browser.send("DOM.querySelectorAll", nodeId=box, selector=".still svg")["nodeIds"]
    assert len(still) == 12
    model = browser.send("DOM.getBoxModel", nodeId=still[0])["model"]
    assert model["width"] > 500 and model["height"] > 250
    browser.send("DOM.scrollIntoViewIfNeeded", nodeId=still[0])
    assert rgb(LIGHT.series[0]) in {colour for count, colour in colours(browser.picture()) if count > 50}
    assert browser.console() == []


@pytest.mark.slow
def test_an_old_browser_keeps_the_still_pictures(browser: Browser, written: Path):
    script = browser.send(
        "Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream"
    )["identifier"]
    browser.open(written, figures=False)
    browser.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    assert browser.run("return document.querySelectorAll('.still').length") == 12
    assert browser.run("return getComputedStyle(document.querySelector('.still')).display") == "block"
    assert browser.console() == []


@pytest.mark.slow
def test_a_hostile_page_is_inert(browser: Browser, tmp_path: Path):
    from selenium.common.exceptions import NoAlertPresentException

    path = write(hostile(), tmp_path / "report.html")
    for mobile in (False, True):
        browser.shape(390 if mobile else 1280, 844, mobile=mobile)
        browser.open(path)
        assert browser.run("return window.stolen") is None
        assert browser.run("return document.querySelectorAll(arguments[0]).length", FORBIDDEN) == 0
        assert browser.run(HANDLERS) == []
        assert browser.run("return document.documentElement.scrollWidth") <= (390 if mobile else 1280), (
            browser.run(OUTSIDE)
        )
        area = drag_area(browser)
        for k in range(1, 12):
            browser.mouse("mouseMoved", area["x"] + area["w"] * k / 12, area["y"] + area["h"] * (12 - k) / 12)
        assert browser.run("return document.querySelectorAll('.hoverlayer a').length") == 0
        assert browser.run("return window.stolen") is None
        assert browser.console() == [] and browser.requests() == []
        with pytest.raises(NoAlertPresentException):
            browser.driver.switch_to.alert.dismiss()
