# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One headless Chromium and one written report for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chromium import SWITCHES, Browser, started
from sample import sample

from hockney.report import write


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("chromium"), SWITCHES) as browser:
        yield browser


@pytest.fixture
def browser(session: Browser) -> Iterator[Browser]:
    session.shape(1280, 900)
    session.send("Emulation.setScriptExecutionDisabled", value=False)
    yield session
    session.driver.get("about:blank")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(sample(), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def written_in_part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first section with its two figures: twelve take seconds to become interactive."""
    page = sample()
    return write(replace(page, sections=page.sections[:1]), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def sample_page(written: Path, written_in_part: Path, browser: Browser) -> Callable[..., Browser]:
    """Open the first section of the sample's report, or the `whole`, at a size; returns the browser when all
    figures are interactive."""

    def opened(
        width: int = 1280, height: int = 900, dark: bool = False, mobile: bool = False, whole: bool = False
    ) -> Browser:
        browser.shape(width, height, dark, mobile)
        browser.open(written if whole else written_in_part)
        return browser

    return opened
