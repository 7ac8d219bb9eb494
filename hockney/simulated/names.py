# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines by name: one of hockney's own, or a file; other extents and variants as endings.

t3e    paragon-8x8    t3e+hardware-barrier    clusters/mine.toml+noisy
"""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable, unknown
from hockney.core.paths import at_home
from hockney.core.platform import Platform
from hockney.simulated.read import parse, read
from hockney.simulated.variants import Variant
from hockney.simulated.variants import variants as _variants

ENDING = ".toml"
MOST_BYTES = 1 << 20
"""A description takes a few kB; more is another file."""

_EXTENT = re.compile(r"(.+?)-(\d+(?:x\d+)+)")


@cache
def names() -> tuple[str, ...]:
    """The machines that come with hockney."""
    folder = files("hockney.simulated") / "machines"
    return tuple(sorted(p.name.removesuffix(ENDING) for p in folder.iterdir() if p.name.endswith(ENDING)))


def platform(words: str) -> Platform:
    """The machine that is asked for by `words`. Raises UsageError, or EnvironmentProblem for a file that
    cannot be read."""
    base, dims, wanted = _split(words)
    text, where = text_of(base)
    return read(text, where, variants=wanted, dims=dims)


def variants(words: str) -> tuple[Variant, ...]:
    """What the machine's file offers."""
    text, where = text_of(_split(words)[0])
    return _variants(parse(text, where), where)


def text_of(base: str) -> tuple[str, str]:
    """A machine file's text, and its name for the user."""
    if _is_file(base):
        return _read_file(at_home(Path(base))), base
    if base not in names():
        raise unknown("simulated machine", base, names())
    where = base + ENDING
    return (files("hockney.simulated") / "machines" / where).read_text("utf-8"), where


def _is_file(base: str) -> bool:
    return "/" in base or base.endswith(ENDING)


def _split(words: str) -> tuple[str, tuple[int, ...], Sequence[str]]:
    """The file or name, the extent, the variants. A path may have + and - in it, up to its ending."""
    if not words.strip():
        raise UsageError("no simulated machine is named", "", f"known: {', '.join(names())}")
    end = words.rfind(ENDING) + len(ENDING) if ENDING in words else 0
    head, plus, rest = words[end:].partition("+")
    base, wanted = words[:end] + head, rest.split("+") if plus else []
    if len(set(wanted)) < len(wanted) or "" in wanted:
        raise UsageError(
            f"'{printable(words)}' names a variant twice or not at all", "", "write NAME+VARIANT, each once"
        )
    match = _EXTENT.fullmatch(base)
    if match is None or base in names():
        return base, (), wanted
    dims = tuple(int(n) for n in match[2].split("x") if len(n) < 9)
    if len(dims) != match[2].count("x") + 1 or 0 in dims:
        raise UsageError(
            f"'{printable(match[2])}' is no extent", "", "write numbers from 1, as in paragon-8x8"
        )
    return match[1], dims, wanted


def _read_file(path: Path) -> str:
    shown = printable(str(path))
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{shown} is not a file", "a machine is described in one", "name a .toml file")
        if found.st_size > MOST_BYTES:
            raise UsageError(
                f"{shown} is too large for a machine file", f"{found.st_size} bytes", "name another file"
            )
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(
            f"there is no machine file {shown}",
            "",
            f"check its name; known without a file: {', '.join(names())}",
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{shown} is not a machine file", "it is not text in UTF-8", "name a .toml file"
        ) from error
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"there is no machine file {shown}", str(error), "check its name") from error
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot read {shown}", (error.strerror or str(error)).lower(), "check its permissions"
        ) from error
