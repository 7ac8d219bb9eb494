# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the verbs that use an archive."""

from __future__ import annotations

import click

from hockney.cli.arguments.options import PATH, ParsedType, combined


def _moment(text: str) -> float:
    from hockney.api.judgements.history import moment

    return moment(text)


MOMENT = ParsedType("date", _moment)

archive = click.option(
    "--archive",
    type=PATH,
    metavar="DIR",
    help="The archive's folder.  [default: $HOCKNEY_ARCHIVE, or history]",
)
selected = combined(
    click.option(
        "--machine", metavar="NAME", default="", help="Only runs of this machine or host; * and ? match."
    ),
    click.option("--label", metavar="TEXT", default="", help="Only runs with this label; * and ? match."),
    click.option("--study", metavar="NAME", default="", help="Only runs of this study."),
    click.option(
        "--since",
        "since_s",
        type=MOMENT,
        metavar="DATE|AGO",
        help="Only runs from this date on, such as 2026-01-31, or from a time ago on: 12h, 30d, 8w.",
    ),
)
