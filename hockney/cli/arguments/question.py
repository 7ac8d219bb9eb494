# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""STUDY NAME=VALUE... or CASE... on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hockney import studies
from hockney.api.questions import Question, question
from hockney.cli.arguments import messages
from hockney.cli.arguments.options import OLDER
from hockney.core.errors import UsageError
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
            raise messages.parameter_and_option(name)
    return Question(given.study, given.cases, {**given.parameters, **older})


def _refused(name: str, study: str) -> UsageError:
    takers = [
        taker.NAME
        for taker in studies.all_studies().values()
        if name in {parameter.name for parameter in studies.parameters_of(taker)}
    ]
    return messages.option_of_other_studies(name, "" if study == ad_hoc.NAME else study, takers)
