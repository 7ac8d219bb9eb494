# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Marks that nobody else can create."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.system import trust

TEXT = '{"--mpi": ["/opt/mpi"]}'


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOCKNEY_CACHE": str(tmp_path / "cache")}


def test_a_mark_is_found_again_and_is_of_one_text_and_one_user(environ, tmp_path):
    mark = trust.mark(TEXT, environ)
    assert mark and trust.is_marked(TEXT, mark, environ)
    assert not trust.is_marked(TEXT + " ", mark, environ)
    other = {"HOCKNEY_CACHE": str(tmp_path / "other")}
    assert not trust.is_marked(TEXT, mark, other), "without a key nothing is marked"
    assert trust.mark(TEXT, other) != mark and not trust.is_marked(TEXT, mark, other)


@given(found=st.text(max_size=70))
def test_what_is_made_up_is_no_mark(tmp_path_factory, found):
    environ = {"HOCKNEY_CACHE": str(tmp_path_factory.getbasetemp() / "made-up")}
    trust.mark(TEXT, environ)
    assert not trust.is_marked(TEXT, found, environ)


def test_several_at_once_make_one_key(environ):
    with ThreadPoolExecutor(8) as pool:
        marks = set(pool.map(lambda _: trust.mark(TEXT, environ), range(32)))
    assert len(marks) == 1
    assert os.listdir(environ["HOCKNEY_CACHE"]) == [trust.KEY_FILE]


@pytest.mark.parametrize("spoil", ["readable", "short", "link", "pipe"])
def test_a_key_that_others_may_know_or_have_put_there_is_none(environ, tmp_path, spoil):
    mark = trust.mark(TEXT, environ)
    path = Path(environ["HOCKNEY_CACHE"], trust.KEY_FILE)
    if spoil == "readable":
        path.chmod(0o644)
    else:
        content = path.read_bytes()
        path.unlink()
        if spoil == "short":
            path.write_bytes(content[:8])
            path.chmod(0o600)
        elif spoil == "pipe":
            os.mkfifo(path, 0o600)
        else:
            (tmp_path / "key").write_bytes(content)
            (tmp_path / "key").chmod(0o600)
            path.symlink_to(tmp_path / "key")
    assert not trust.is_marked(TEXT, mark, environ)
    assert trust.mark(TEXT, environ) == ""


def test_where_no_key_can_be_kept_nothing_is_marked(tmp_path):
    (tmp_path / "file").touch()
    environ = {"HOCKNEY_CACHE": str(tmp_path / "file")}
    assert trust.mark(TEXT, environ) == "" and not trust.is_marked(TEXT, "", environ)
