# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the page in hockney's cache are used only if they are right."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hockney.report import assets, render

CONTENT = b"let a = 1;\n" * 1000


@pytest.fixture
def place(tmp_path, monkeypatch) -> Iterator[Path]:
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path))
    assets.page_cache_folder.cache_clear()
    yield tmp_path / assets.CACHE_SUBFOLDER
    assets.page_cache_folder.cache_clear()


def test_a_script_is_compressed_once(place, monkeypatch):
    first = assets.cached_gzip(CONTENT)
    assert gzip.decompress(first) == CONTENT and [p.read_bytes() for p in place.iterdir()] == [first]
    monkeypatch.setattr(gzip, "compress", None)
    assert assets.cached_gzip(CONTENT) == first


@pytest.mark.parametrize("damaged", [b"", b"no gzip", gzip.compress(b"alert(1)", mtime=0)])
def test_a_damaged_or_replaced_script_is_compressed_again(place, damaged):
    first = assets.cached_gzip(CONTENT)
    (kept,) = place.iterdir()
    kept.write_bytes(damaged)
    assert assets.cached_gzip(CONTENT) == first and kept.read_bytes() == first


def test_the_template_is_kept_and_a_missing_folder_is_no_problem(place):
    for damage in (b"damaged", None):
        render._template.cache_clear()
        assert callable(render._template())
        (kept,) = place.iterdir()
        if damage is not None:
            kept.write_bytes(damage)
    shutil.rmtree(place)
    render._template.cache_clear()
    assert callable(render._template()) and not place.exists()
    render._template.cache_clear()


def test_a_folder_in_which_others_can_write_is_not_used(place):
    place.mkdir(parents=True)
    place.chmod(0o777)
    assert assets.page_cache_folder() is None
    assert gzip.decompress(assets.cached_gzip(CONTENT)) == CONTENT and not list(place.iterdir())


def test_a_page_needs_no_cache(place):
    place.parent.joinpath(assets.CACHE_SUBFOLDER).write_text("a file, not a folder")
    assert assets.page_cache_folder() is None
    assert gzip.decompress(assets.cached_gzip(CONTENT)) == CONTENT
