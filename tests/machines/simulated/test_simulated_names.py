# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines by name, file, extent and variant."""

from __future__ import annotations

import os

import pytest
from raising import raises_code
from test_simulated_read import RING

from hockney.core.errors import HockneyError, UsageError
from hockney.machines import simulated


@pytest.fixture
def ring(tmp_path):
    path = tmp_path / "a+b-2x2" / "ring.toml"
    path.parent.mkdir()
    path.write_text(RING)
    return path


def test_a_file_with_an_extent_and_a_variant(ring):
    assert simulated.platform(str(ring)).name == "ring"
    assert simulated.platform(f"{ring}-4x2").network.dims == (4, 2)
    assert simulated.platform(f"{ring}+one-wire").network.shape == "bus"
    assert [v.name for v in simulated.variants(f"{ring}+one-wire")] == ["one-wire"]


def test_a_relative_file(ring, monkeypatch):
    monkeypatch.chdir(ring.parent)
    assert simulated.platform("ring.toml").name == "ring"


def test_built_in_names_hold_their_files():
    assert "t3e" in simulated.names()
    for name in simulated.names():
        assert simulated.platform(name).name == name
    assert simulated.platform("t3e-4x4x2").capacity == 32


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("t3f", "unknown-simulated-machine"),
        ("zzzzzzzz", "unknown-simulated-machine"),
        ("", "no-machine-name"),
        ("t3e+", "bad-variant-list"),
        ("t3e+a+a", "bad-variant-list"),
        ("t3e+nothing", "unknown-variant"),
        ("t3e-0x4", "bad-extent"),
        ("t3e-4x999999999", "bad-extent"),
        ("t3e-9999x9999x9999", "too-many-nodes"),
        ("./none.toml", "no-machine-file"),
        ("none.toml/deeper.toml", "no-machine-file"),
        ("/dev/null", "not-a-file"),
        ("a\0b.toml", "bad-file-name"),
    ],
)
def test_what_cannot_be_named(name, code):
    with pytest.raises(UsageError) as caught:
        simulated.platform(name)
    assert caught.value.code == code and str(caught.value).isprintable()


def test_the_closest_machine_is_suggested():
    for name, suggestion in (("t3f", "t3e"), ("zzzzzzzz", "")):
        with pytest.raises(UsageError) as caught:
            simulated.platform(name)
        assert caught.value.suggestion == suggestion


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\xff\xfe\x00binary", "machine-file-not-text"),
        (b"\x7fELF" + bytes(range(256)), "machine-file-not-text"),
        (b" " * (1 << 21), "machine-file-too-large"),
    ],
)
def test_what_is_no_machine_file(tmp_path, content, code):
    path = tmp_path / "m.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        simulated.platform(str(path))
    assert caught.value.code == code
    assert caught.value.what.startswith(str(path)) and str(caught.value).isprintable()


def test_a_folder_is_no_machine_file(tmp_path):
    with raises_code("not-a-file"):
        simulated.platform(f"{tmp_path}/")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(ring):
    ring.chmod(0)
    with raises_code("cannot-read-machine-file"):
        simulated.platform(str(ring))


def test_every_error_has_the_exit_code_of_usage(ring):
    ring.write_text("[network")
    with pytest.raises(HockneyError) as caught:
        simulated.platform(str(ring))
    assert caught.value.exit_code == 2
