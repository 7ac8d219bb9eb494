# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about the study of kernels."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, unknown

STYLES = ("bsp", "bpram", "mpi")


def unknown_kernel(name: str, known: Iterable[str]) -> UsageError:
    return unknown("kernel", name, known)


def unknown_style(name: str) -> UsageError:
    return unknown("style", name, STYLES)


def no_kernel() -> UsageError:
    return UsageError(
        "no kernel can be measured",
        "bitonic sort needs a power of two of ranks",
        "use for example --ranks 4",
        code="no-kernel",
    )
