# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The files of descriptions: those that come with hockney, by name, and the user's."""

from __future__ import annotations

import stat
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path

from hockney.description import messages

ENDING = ".toml"
MOST_BYTES = 1 << 20
"""A description has a few kB; a larger file is something else."""


def bundled(package: str) -> tuple[str, ...]:
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
            raise messages.not_a_file(str(path))
        if status.st_size > MOST_BYTES:
            raise messages.machine_file_too_large(str(path), status.st_size, MOST_BYTES)
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise messages.no_machine_file(str(path), names) from error
    except UnicodeDecodeError as error:
        raise messages.machine_file_not_text(str(path)) from error
    except ValueError as error:  # a NUL in the name
        raise messages.bad_file_name(str(path), str(error)) from error
    except OSError as error:
        raise messages.cannot_read_machine_file(str(path), (error.strerror or str(error)).lower()) from error
