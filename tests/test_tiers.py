# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Distribution of tests over processes."""

from __future__ import annotations

import pytest


def test_tests_that_disturb_each_other_are_grouped(request: pytest.FixtureRequest) -> None:
    """pytest-xdist marks the names of grouped tests; otherwise real ranks would run side by side."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("tests run in one process")
    assert "@" in request.node.nodeid
