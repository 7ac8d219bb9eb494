# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How long compiling will take: by the machine's speed, cores and load."""

from __future__ import annotations

import os

import pytest

from hockney.build import duration


@pytest.mark.parametrize(
    ("slower", "cores", "load", "promised"),
    [
        (1.0, 2, 0.0, "about 20 s"),
        (1.0, 2, 7.0, "about 90 s"),
        (1.0, 1, 0.0, "about 40 s"),
        (2.0, 2, 0.0, "about 40 s"),
        (1.0, 64, 0.0, "about 10 s"),
        (1.0, 2, 30.0, "about 5m00s"),
    ],
)
def test_a_promise_is_by_speed_cores_and_load(monkeypatch, slower, cores, load, promised):
    monkeypatch.setattr(duration, "_core_s", lambda: slower * duration.LOOP_S)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)))
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    assert duration.expected(duration.ENGINE_S) == promised
