# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about files of logs."""

from __future__ import annotations

from hockney.core.errors import UsageError, printable


def no_files() -> UsageError:
    return UsageError("no file to import", "", "name the files that contain the output", code="no-log-files")


def log_is_folder(name: str) -> UsageError:
    return UsageError(
        f"'{printable(name)}' is a folder",
        "logs are files",
        f"use for example {printable(name.rstrip('/'))}/*.log",
        code="log-is-folder",
        path=name,
    )


def ranks_not_a_count(ranks: object) -> UsageError:
    return UsageError(
        f"ranks is {printable(repr(ranks))}",
        "it is a number of ranks",
        "use for example ranks=16",
        code="import-ranks-not-a-count",
    )


def ranks_out_of_range(ranks: int) -> UsageError:
    return UsageError(
        f"ranks is {ranks}",
        "at least one rank ran the benchmark",
        "use for example ranks=16",
        code="import-ranks-out-of-range",
        ranks=ranks,
    )
