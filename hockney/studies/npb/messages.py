# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about the study of the NAS benchmarks."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, unknown


def unknown_benchmark(name: str, known: Iterable[str]) -> UsageError:
    return unknown("benchmark", name, known, code="unknown-nas-benchmark")


def benchmarks_have_no_sizes() -> UsageError:
    return UsageError(
        "the NAS benchmarks have no message size",
        "--sizes is for workloads with messages of a chosen size",
        "use class=, for example class=A",
        code="benchmarks-have-no-sizes",
    )
