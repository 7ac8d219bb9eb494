# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: strict, complete, and independent of the network."""

from __future__ import annotations

import glob
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin

import pytest
from needs import missing

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTORS = {
    *(ROOT / "docs" / name for name in ("architecture.md", "extending.md", "testing.md")),
    *(ROOT / "docs" / "decisions").glob("*.md"),
}
"""Read in the repository, not on the site."""
SOURCES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *(path for path in (ROOT / "docs").rglob("*.md") if path not in CONTRIBUTORS),
    *(ROOT / "docs").rglob("*.ipynb"),
    *(ROOT / "hockney").rglob("*.md"),
]


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """As in `make docs`."""
    for module in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(module) is None:
            missing(module, "a Python package")
    words = ("-q", "-W", "--keep-going", "-c", str(root / "docs" / "_site"), str(root), str(site))
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, timeout=600
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


def led_to(page: Path) -> set[Path]:
    """The pages to which the tables of contents of a page lead, directly or indirectly."""
    trees = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    entries = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    endings = (".md", ".ipynb")
    names = (
        name for entry in entries for end in endings for name in glob.glob(f"{page.parent / entry}{end}")
    )
    pages = {Path(name).resolve() for name in names}
    return pages.union(*map(led_to, pages))


def test_the_index_leads_to_every_page():
    """A fast version of a check that the strict build of the site also makes."""
    index = ROOT / "docs" / "index.md"
    assert {*SOURCES} - led_to(index) == {index}


@pytest.mark.slow
def test_every_page_is_in_the_navigation(site):
    page = (site / "docs" / "index.html").read_text("utf-8")
    (tree,) = re.findall(r'<div class="sidebar-tree">(.*?)</div>\s*</div>', page, re.DOTALL)
    linked = {urljoin("docs/index.html", link) for link in re.findall(r'href="([^"#]+)"', tree)}
    pages = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in SOURCES}
    assert len(pages) > 50 and pages - linked == {"docs/index.html"}


@pytest.mark.slow
def test_pages_load_nothing_from_the_network(site):
    loads = re.compile(r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"(?:https?:)?//[^\"]*")
    for path in site.rglob("*.html"):
        assert loads.findall(path.read_text("utf-8")) == [], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", path.read_text("utf-8")), path


@pytest.mark.slow
def test_the_reference_has_every_name_of_the_api(site):
    import hockney

    page = (site / "docs" / "reference" / "api.html").read_text("utf-8")
    names = [name for name in hockney.__all__ if name != "__version__"]
    assert len(names) > 10 and [name for name in names if f'id="hockney.{name}"' not in page] == []


@pytest.mark.slow
def test_the_start_page_leads_to_the_documentation(site):
    target = re.search(r'url=([^"]+)"', (site / "index.html").read_text("utf-8"))
    assert target and (site / target[1]).is_file()


@pytest.mark.parametrize("link", ["nowhere.md", "other.md#no-such-heading"])
@pytest.mark.slow
def test_a_broken_link_fails_the_build(tmp_path, link):
    shutil.copytree(ROOT / "docs" / "_site", tmp_path / "docs" / "_site")
    (tmp_path / "docs" / "other.md").write_text("---\norphan: true\n---\n# Other\n")
    start = tmp_path / "docs" / "index.md"
    start.write_text("# Start\n\n[good](other.md#other)\n")
    good = build(tmp_path, tmp_path / "good")
    assert good.returncode == 0, good.stderr
    start.write_text(f"# Start\n\n[broken]({link})\n")
    assert build(tmp_path, tmp_path / "bad").returncode != 0


@pytest.mark.slow
def test_a_page_outside_the_navigation_fails_the_build(tmp_path):
    shutil.copytree(ROOT / "docs" / "_site", tmp_path / "docs" / "_site")
    (tmp_path / "docs" / "index.md").write_text("# Start\n")
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n")
    assert build(tmp_path, tmp_path / "bad").returncode != 0
