# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Questions for measurement: a study with its parameters, or cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hockney import measurement, studies
from hockney.core.case import NAME_PATTERN
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.parameters import parse_parameters
from hockney.core.paths import is_description_file
from hockney.core.program_cases import PROGRAM
from hockney.studies import ad_hoc, published_study

_RUN_LIST = "'hockney run --list' shows all"

FILE_VALUE = re.compile(r"(?<=[=,])file:([^\s,]+)")


@dataclass(frozen=True)
class Question:
    """`parameters` are the study's parameters as typed. `cases` are lines, used only by the study of ad-hoc
    cases. `programs` are descriptions of programs (`Settings.programs`)."""

    study: str
    cases: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def workloads(self) -> set[str]:
        """Names of the workloads of its cases, which may be unknown."""
        return {case.split()[0] for case in self.cases if case.split()}

    @property
    def needed(self) -> set[str]:
        """Workloads with executables that are needed: those of the cases or of the study."""
        return self.workloads | set(studies.find_study(self.study).WORKLOADS)

    def values(self) -> dict[str, Any]:
        """Parameters converted to their types. Raises UsageError for an unknown parameter or an invalid
        value."""
        declared = studies.find_study(self.study).PARAMETERS
        return parse_parameters(declared, self.parameters, self.study)


def parse_question(words: Question | str | Sequence[str]) -> Question:
    """Parse the arguments of `hockney run`: a study with its parameters, or cases. A `Question` is returned
    unchanged.

    A name shared by a study and a workload (granularity) means the study, unless a parameter belongs only to
    the workload. A name with parameters in one string (["granularity work=1ms"]) is always a case. Raises
    UsageError for invalid questions.
    """
    if isinstance(words, Question):
        return words
    arguments = tuple(words.split()) if isinstance(words, str) else tuple(words)
    if not arguments:
        raise UsageError("nothing to run", "name a study or a case", _RUN_LIST, code="nothing-to-run")
    if is_description_file(arguments[0]):
        return _program_question(arguments)
    cases = join_cases(arguments)
    if arguments[0] == ad_hoc.NAME:
        raise UsageError(
            f"study '{arguments[0]}' cannot be run by its name",
            "it is the study of ad-hoc cases",
            "give cases, for example 'hockney run pingpong bytes=8'",
            code="ad-hoc-by-name",
        )
    if arguments[0] == published_study.NAME:
        published_study.raise_not_measurable()
    if not studies.is_study(arguments[0]):
        return Question(ad_hoc.NAME, cases)
    name = arguments[0]
    parameters = _parameters(cases[0].split()[1:]) if len(cases) > 1 else _parameters(arguments[1:])
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
    """Question about a program described in a file. The file is followed by problem sizes and parameters of
    the study."""
    from hockney.api.programs import Program  # loads models that no other question needs

    program = Program.read(words[0])
    declared_parameters = {parameter.name for parameter in studies.find_study(PROGRAM).PARAMETERS}
    is_parameter = {
        word: word.partition("=")[0] in declared_parameters - program.description.sizes.keys()
        for word in words[1:]
    }
    sized_program = program.with_typed_sizes(word for word in words[1:] if not is_parameter[word])
    parameters = _parameters([word for word in words[1:] if is_parameter[word]])
    return Question(PROGRAM, programs=(sized_program.stored,), parameters=parameters)


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
    """Whether all given parameters belong to the workload with a study's name, but not all to the study."""
    study_parameters = {parameter.name for parameter in studies.find_study(name).PARAMETERS}
    if not set(names) - study_parameters:
        return False
    workloads = measurement.bundled_workloads()
    if name not in workloads:
        return False
    return set(names) <= {"ranks", *(parameter.name for parameter in workloads[name].parameters)}


def join_cases(words: Sequence[str]) -> tuple[str, ...]:
    """Join words to case lines. NAME=VALUE belongs to the preceding case; a quoted line is a separate
    case."""
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
    """Make the path of each NAME=file:PATH absolute, as ranks may be started, and runs resumed, in another
    folder. Paths that a case line cannot contain remain relative."""
    return FILE_VALUE.sub(lambda match: _absolute(match[1]), case)


def _absolute(path: str) -> str:
    absolute = str(Path(path).expanduser().absolute())
    return f"file:{absolute if FILE_VALUE.fullmatch(f'=file:{absolute}', 1) else path}"


def refuse_unknown(question: Question, workloads: set[str]) -> None:
    """Raise UsageError if a case's name is neither that of a workload nor of a study."""
    for name in sorted(question.workloads - workloads):
        from hockney.reference.peers import benchmark_named  # reads tables that no other question needs

        if (peer := benchmark_named(name)) is not None:
            benchmark = peer[0]
            like_hint = f"'hockney run --like {printable(benchmark.name)}' measures what it measures"
            raise UsageError(
                f"'{printable(benchmark.name)}' is a benchmark of another program",
                "" if benchmark.case else "hockney has no case like it",
                like_hint
                if benchmark.case
                else "docs/reference/peers.md lists those that correspond to a case",
                code="name-of-another-benchmark",
                name=benchmark.name,
            )
        if NAME_PATTERN.fullmatch(name):  # it may have been meant as a study
            other_names: set[str] = set()
            for executable, known_names in measurement.source_workloads().items():
                if (
                    name in known_names
                ):  # but not in the stored catalog, which counts where nothing is compiled
                    raise UsageError(
                        f"the catalog of the fake machine lacks '{printable(name)}'",
                        f"the sources of {executable} are newer than its catalog in contract/golden",
                        "'make catalogs' writes it again",
                        code="workload-not-in-catalog",
                        name=name,
                        executable=executable,
                    )
                other_names.update(known_names)
            names = workloads | set(studies.all_studies()) | other_names
            raise unknown("study or workload", name, names, _RUN_LIST, code="unknown-study-or-workload")
