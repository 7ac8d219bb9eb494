# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rates of local work on a described machine, where work takes the time that the case states."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.platform import Platform
from hockney.suites.bsp.models.parameters import LocalRate, LocalRates

FLOPS = {
    "multiplication": 1.0,
    "sort": 5.0,
    "merge": 5.0,
    "min-plus": 2.0,
    "closure": 2.0,
    "copy": 1e-6,
}
"""Floating-point operations that count as one operation; the kernels' copies take no simulated time."""
TYPES = ("", "double", "float", "uint32")


def operations_per_second(platform: Platform, operation: str) -> float:
    """Operations per second, from the description's rate of this operation, or else from the speed of its
    cores."""
    return platform.rates.get(operation) or platform.flops / FLOPS[operation]


def described_rates(platform: Platform, known: Mapping[str, float] | None = None) -> LocalRates:
    """The described rates in the form of measured ones; `known` are operations per second that replace the
    description's."""
    speeds = {operation: operations_per_second(platform, operation) for operation in FLOPS} | dict(
        known or {}
    )
    return LocalRates(
        {
            operation: tuple(LocalRate({"type": kind} if kind else {}, speed, 1.0) for kind in TYPES)
            for operation, speed in speeds.items()
        }
    )
