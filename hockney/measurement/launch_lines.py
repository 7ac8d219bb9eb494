# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of a launch with a launch setting: the engine gets its cases without the setting, which is added
to the lines that come back."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence

from msgspec.structs import replace

from hockney.core.case import Case, parse_canonical
from hockney.core.record import EngineLine, Failure, Launch, Record, Start
from hockney.launch.launcher import Launcher, LaunchFailed, LaunchOptions


def lines_of(
    launcher: Launcher, cases: Sequence[Case], ranks: int, options: LaunchOptions
) -> Generator[EngineLine, None, None]:
    """The lines of a launch of `cases` on `ranks` ranks, which have the setting of `options`. Closing it ends
    the launch."""
    plain = [case.with_setting("") for case in cases]
    lines = launcher.run(plain, ranks, options)
    try:
        yield from _labelled(lines, options) if options.setting else lines
    except LaunchFailed as failed:
        if options.setting and failed.case:
            failed.case = _under(failed.case, options.setting)
        raise
    finally:
        _close(lines)


def _close(lines: Iterable[EngineLine]) -> None:
    with contextlib.suppress(AttributeError):
        lines.close()  # type: ignore[attr-defined]


def _labelled(lines: Iterator[EngineLine], options: LaunchOptions) -> Iterator[EngineLine]:
    for line in lines:
        if isinstance(line, Launch):
            yield replace(line, setting=options.setting, variables=dict(options.variables))
        elif isinstance(line, Start | Record | Failure):
            yield replace(line, case=_under(line.case, options.setting))
        else:
            yield line


def _under(line: str, setting: str) -> str:
    return parse_canonical(line).with_setting(setting).line
