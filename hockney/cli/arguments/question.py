# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""STUDY NAME=VALUE... or CASE... on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hockney import studies
from hockney.api.questions import Question, question
from hockney.cli.arguments.options import OLDER
from hockney.core.errors import UsageError
from hockney.core.wording import listing
from hockney.studies import ad_hoc


def asked_question(words: Sequence[str], options: dict[str, Any]) -> Question:
    """The question in `words`; the older options are removed from `options` and become its parameters."""
    older = {name: text for name in OLDER if (text := options.pop(name)) is not None}
    given = question(words)
    declared = {parameter.name for parameter in studies.parameters_of(studies.study(given.study))}
    for name in older:
        if name not in declared:
            raise _refused(name, given.study)
        if name in given.parameters:
            raise UsageError(
                f"{name}= and --{name} exclude each other",
                "both set the same parameter",
                f"leave --{name} out",
                code="parameter-and-option",
                name=name,
            )
    return Question(given.study, given.cases, {**given.parameters, **older})


def _refused(name: str, study: str) -> UsageError:
    takers = [
        taker.NAME
        for taker in studies.all_studies().values()
        if name in {parameter.name for parameter in studies.parameters_of(taker)}
    ]
    return _option_of_other_studies(name, "" if study == ad_hoc.NAME else study, takers)


def _option_of_other_studies(name: str, study: str, takers: Sequence[str]) -> UsageError:
    """`study` is "" for ad-hoc cases."""
    return UsageError(
        f"--{name} does not apply to {f'study {study!r}' if study else 'ad-hoc cases'}",
        f"it is a parameter of {listing(takers)}",
        "leave it out" if study else "write it into the case, for example compute work=1ms",
        code="option-of-other-studies",
        name=name,
        study=study,
    )
