# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What to measure: a study and its parameters, or cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hockney import measurement, studies
from hockney.core.case import NAME
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.parameters import parse_parameters
from hockney.core.paths import is_description_file
from hockney.core.program_cases import PROGRAM
from hockney.studies import ad_hoc, published_study

_RUN_LIST = "'hockney run --list' shows all"

FILE_VALUE = re.compile(r"(?<=[=,])file:([^\s,]+)")


@dataclass(frozen=True)
class Question:
    """`parameters` are those of the study, as typed; `cases` are lines, only for the study of ad-hoc
    cases; `programs` are the descriptions of programs (`Settings.programs`)."""

    study: str
    cases: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def workloads(self) -> set[str]:
        """The names of its cases, which may be unknown."""
        return {case.split()[0] for case in self.cases if case.split()}

    @property
    def needed(self) -> set[str]:
        """The workloads whose executables are needed: those of its cases, or those that the study names."""
        return self.workloads | set(studies.study(self.study).WORKLOADS)

    def values(self) -> dict[str, Any]:
        """The parameters in their types. Raises UsageError for an unknown parameter or an invalid value."""
        declared = studies.study(self.study).PARAMETERS
        return parse_parameters(declared, self.parameters, self.study)


def parse_question(words: Question | str | Sequence[str]) -> Question:
    """The question in `words`, as after `hockney run`: a study and its parameters, or cases. A question stays
    as it is.

    A name that both a study and a workload have (granularity) means the study, unless a parameter is given
    that only the workload has; name and parameters in one string (["granularity work=1ms"]) are always a
    case. Raises UsageError.
    """
    if isinstance(words, Question):
        return words
    words_given = tuple(words.split()) if isinstance(words, str) else tuple(words)
    if not words_given:
        raise UsageError("nothing to run", "name a study or a case", _RUN_LIST, code="nothing-to-run")
    if is_description_file(words_given[0]):
        return _program_question(words_given)
    cases = join_cases(words_given)
    if words_given[0] == ad_hoc.NAME:
        raise UsageError(
            f"study '{words_given[0]}' cannot be run by its name",
            "it is the study of ad-hoc cases",
            "give cases, for example 'hockney run pingpong bytes=8'",
            code="ad-hoc-by-name",
        )
    if words_given[0] == published_study.NAME:
        published_study.refuse()
    if not studies.is_study(words_given[0]):
        return Question(ad_hoc.NAME, cases)
    name = words_given[0]
    parameters = _parameters(cases[0].split()[1:]) if len(cases) > 1 else _parameters(words_given[1:])
    if _is_case(name, parameters):
        return Question(ad_hoc.NAME, cases)
    if len(cases) > 1:
        raise UsageError(
            f"study '{name}' takes no cases",
            "it plans its own cases",
            f"run '{printable(name)}' alone",
            code="study-takes-no-cases",
            study=name,
        )
    return Question(name, parameters=parameters)


def _program_question(words: Sequence[str]) -> Question:
    """The study of the program that a file describes. After the file come sizes of the problem, and
    parameters of the study."""
    from hockney.api.programs import Program  # loads models that no other question needs

    program = Program.read(words[0])
    declared = {parameter.name for parameter in studies.study(PROGRAM).PARAMETERS}
    own = {word: word.partition("=")[0] in declared - program.description.sizes.keys() for word in words[1:]}
    sized = program.with_typed_sizes(word for word in words[1:] if not own[word])
    parameters = _parameters([word for word in words[1:] if own[word]])
    return Question(PROGRAM, programs=(sized.stored,), parameters=parameters)


def _parameters(words: Sequence[str]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name in parameters:
            raise UsageError(
                f"parameter '{printable(name)}' is given twice",
                "it takes one value",
                "give it once",
                code="study-parameter-given-twice",
                name=name,
            )
        parameters[name] = value
    return parameters


def _is_case(name: str, names: Mapping[str, str]) -> bool:
    """Whether the workload with a study's name has all the given parameters, and the study does not."""
    declared = {parameter.name for parameter in studies.study(name).PARAMETERS}
    if not set(names) - declared:
        return False
    workloads = measurement.bundled_workloads()
    if name not in workloads:
        return False
    return set(names) <= {"ranks", *(p.name for p in workloads[name].parameters)}


def join_cases(words: Sequence[str]) -> tuple[str, ...]:
    """NAME=VALUE belongs to the case before it; a quoted line is a separate case."""
    cases: list[str] = []
    for word in words:
        if "=" in word.split(maxsplit=1)[0] if word.split() else False:
            if not cases:
                raise UsageError(
                    f"'{printable(word)}' comes before any case",
                    "it is a parameter of a case",
                    "name a workload first",
                    code="parameter-before-case",
                    text=word,
                )
            cases[-1] += f" {word}"
        else:
            cases.append(word)
    return tuple(absolute_files(case) for case in cases)


def absolute_files(case: str) -> str:
    """The case with the absolute path of each NAME=file:PATH: ranks may be started in another folder, and a
    run resumed from one. Relative paths whose absolute path a case line cannot contain stay as they are."""
    return FILE_VALUE.sub(lambda match: _absolute(match[1]), case)


def _absolute(path: str) -> str:
    absolute = str(Path(path).expanduser().absolute())
    return f"file:{absolute if FILE_VALUE.fullmatch(f'=file:{absolute}', 1) else path}"


def refuse_unknown(question: Question, workloads: set[str]) -> None:
    """Raises UsageError if a case's name is neither a workload's nor a study's."""
    for name in sorted(question.workloads - workloads):
        from hockney.reference.peers import benchmark_named  # reads tables that no other question needs

        if (peer := benchmark_named(name)) is not None:
            benchmark = peer[0]
            like = f"'hockney run --like {printable(benchmark.name)}' measures what it measures"
            raise UsageError(
                f"'{printable(benchmark.name)}' is a benchmark of another program",
                "" if benchmark.case else "hockney has no case like it",
                like if benchmark.case else "docs/reference/peers.md lists those that correspond to a case",
                code="name-of-another-benchmark",
                name=benchmark.name,
            )
        if NAME.fullmatch(name):  # it may have been meant as a study
            others: set[str] = set()
            for executable, defined in measurement.source_workloads().items():
                if name in defined:  # but not in the stored catalog, which counts where nothing is compiled
                    raise UsageError(
                        f"the catalog of the fake machine lacks '{printable(name)}'",
                        f"the sources of {executable} are newer than its catalog in contract/golden",
                        "'make catalogs' writes it again",
                        code="workload-not-in-catalog",
                        name=name,
                        executable=executable,
                    )
                others.update(defined)
            names = workloads | set(studies.all_studies()) | others
            raise unknown("study or workload", name, names, _RUN_LIST, code="unknown-study-or-workload")
