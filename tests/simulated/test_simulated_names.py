# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines by name, file, extent and variant."""

from __future__ import annotations

import os

import pytest
from test_simulated_read import RING

from hockney import simulated
from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError


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
    ("words", "told"),
    [
        ("t3f", "Did you mean 't3e'"),
        ("zzzzzzzz", "vailable: .*t3e"),
        ("", "vailable: .*t3e"),
        ("t3e+", "names a variant twice or not at all"),
        ("t3e+a+a", "names a variant twice"),
        ("t3e+nothing", "unknown variant of t3e 'nothing'"),
        ("t3e-0x4", "'0x4' is no extent"),
        ("t3e-4x999999999", "is no extent"),
        ("t3e-9999x9999x9999", "network.dims counts too many"),
        ("./none.toml", "there is no machine file none.toml"),
        ("none.toml/deeper.toml", "there is no machine file"),
        ("/dev/null", "is not a file"),
        ("a\0b.toml", "there is no machine file"),
    ],
)
def test_what_cannot_be_named(words, told):
    with pytest.raises(UsageError, match=told) as caught:
        simulated.platform(words)
    assert "\n" not in str(caught.value) and "\0" not in str(caught.value)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"\x7fELF" + bytes(range(256)), b" " * (1 << 21)])
def test_what_is_no_machine_file(tmp_path, content):
    path = tmp_path / "m.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"m\.toml") as caught:
        simulated.platform(str(path))
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_machine_file(tmp_path):
    with pytest.raises(UsageError, match="is not a file"):
        simulated.platform(f"{tmp_path}/")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(ring):
    ring.chmod(0)
    with pytest.raises(EnvironmentProblem, match="cannot read"):
        simulated.platform(str(ring))


def test_every_error_has_the_exit_code_of_usage(ring):
    ring.write_text("[network")
    with pytest.raises(HockneyError) as caught:
        simulated.platform(str(ring))
    assert caught.value.exit_code == 2
