# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The files of descriptions: those that come with hockney, by name, and the user's."""

from __future__ import annotations

import stat
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable

ENDING = ".toml"
MOST_BYTES = 1 << 20
"""A description has a few kB; a larger file is something else."""


def bundled_names(package: str) -> tuple[str, ...]:
    """The names of the descriptions in the folder machines of `package`."""
    folder = files(package) / "machines"
    return tuple(sorted(p.name.removesuffix(ENDING) for p in folder.iterdir() if p.name.endswith(ENDING)))


def bundled_text(package: str, name: str) -> str:
    return (files(package) / "machines" / (name + ENDING)).read_text("utf-8")


def is_file(name: str) -> bool:
    return "/" in name or name.endswith(ENDING)


def read_file(path: Path, names: Collection[str]) -> str:
    """`names` are the machines that exist without a file. Raises UsageError or EnvironmentProblem."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(
                f"{printable(str(path))} is not a regular file",
                "",
                "give the path of a .toml file",
                code="not-a-file",
            )
        if status.st_size > MOST_BYTES:
            raise UsageError(
                f"{printable(str(path))} is too large for a machine file",
                f"it has {status.st_size} bytes; the limit is {MOST_BYTES}",
                "give another file",
                code="machine-file-too-large",
                size=status.st_size,
            )
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(
            f"there is no machine file {printable(str(path))}",
            "",
            f"check the path; built-in machines: {', '.join(names)}",
            code="no-machine-file",
            path=str(path),
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{printable(str(path))} is not a machine file",
            "it is not text in UTF-8",
            "give the path of a .toml file",
            code="machine-file-not-text",
        ) from error
    except ValueError as error:  # a NUL in the name
        raise UsageError(
            f"{printable(str(path))} is not a file name",
            printable(str(error)),
            "check the path",
            code="bad-file-name",
        ) from error
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot read {printable(str(path))}",
            (error.strerror or str(error)).lower(),
            "check its permissions",
            code="cannot-read-machine-file",
        ) from error
