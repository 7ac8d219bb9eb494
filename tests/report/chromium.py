# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, and the operations that the report's tests need."""

from __future__ import annotations

import base64
import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from needs import need_program

SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
)


class Browser:
    """A browser for tests, controlled by Chromium's DevTools protocol."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def send(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def shape(self, width: int, height: int, dark: bool = False, mobile: bool = False) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        self.send("Emulation.setTouchEmulationEnabled", enabled=mobile)
        self.theme(dark)

    def theme(self, dark: bool) -> None:
        value = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def open(self, path: Path, figures: bool = True) -> None:
        """Load the page; with `figures` wait until all are interactive."""
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        if figures:
            self.until("return performance.getEntriesByName('hockney-all-live').length > 0")

    def until(self, script: str, seconds: float = 300.0) -> Any:
        end = time.monotonic() + seconds
        while not (result := self.run(script)):
            assert time.monotonic() < end, f"not within {seconds} s: {script}; the console: {self.console()}"
            time.sleep(0.03)
        return result

    def console(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses requested since the page was opened, except its own and embedded ones."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [
            url
            for url in asked
            if not url.startswith(("data:", "blob:")) and url != self.driver.current_url.split("#")[0]
        ]

    def picture(self, whole: bool = False) -> bytes:
        return base64.b64decode(
            self.send("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole))["data"]
        )

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        width, height = self.run(
            "return [document.documentElement.clientWidth, document.documentElement.scrollHeight]"
        )
        return {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", clickCount=1)
        for k in range(1, 6):
            self.mouse(
                "mouseMoved",
                *(a + (b - a) * k / 5 for a, b in zip(start, end, strict=True)),
                button="left",
                buttons=1,
            )
        self.mouse("mouseReleased", *end, button="left", clickCount=1)


@contextlib.contextmanager
def started(profile: Path, switches: Sequence[str]) -> Iterator[Browser]:
    """A Chromium with these switches; without one the test is skipped, in CI failed."""
    chromium = need_program("Chromium", "chromium", "chromium-browser", "google-chrome")
    chromedriver = need_program("Chromium", "chromedriver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in (*switches, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
