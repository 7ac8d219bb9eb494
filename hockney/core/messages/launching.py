# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of mpiexec, variables, settings of launches, and paths."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable, unknown


def mpiexec_args_not_words(text: str, reason: str) -> UsageError:
    return UsageError(
        f"--mpiexec-args {printable(text)} cannot be split into words",
        reason[:1].lower() + reason[1:],
        "quote as in a shell, for example --mpiexec-args '--mca btl self,tcp'",
        code="mpiexec-args-not-words",
        text=text,
    )


def mpiexec_args_with_ranks(option: str) -> UsageError:
    return UsageError(
        f"--mpiexec-args has {printable(option)}, the number of ranks",
        "hockney starts each case with the ranks that it names",
        "use --ranks",
        code="mpiexec-args-with-ranks",
        option=option,
    )


def not_a_variable(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a variable with its value",
        "",
        "use for example -x UCX_TLS=self,sm",
        code="not-a-variable",
        text=text,
    )


def variable_given_twice(name: str) -> UsageError:
    what = f"-x {printable(name)} is given twice"
    return UsageError(what, "it takes one value", "give it once", code="variable-given-twice", name=name)


def not_a_launch_setting(line: str) -> UsageError:
    return UsageError(
        f"'{printable(line)}' is not a launch setting",
        "it has a name other than 'default', and usually variables with their values",
        "use for example --setting 'eager64k OMPI_MCA_btl_sm_eager_limit=65536'",
        code="not-a-launch-setting",
        line=line,
    )


def launch_setting_twice(name: str) -> UsageError:
    what = f"the launch setting {printable(name)} is declared twice"
    remedy = "give it once, with all its variables"
    return UsageError(what, "", remedy, code="launch-setting-twice", name=name)


def unknown_launch_setting(name: str, declared: Iterable[str]) -> UsageError:
    remedy = f"declare it: --setting '{printable(name)} VARIABLE=VALUE'"
    return unknown("launch setting", name, ["default", *declared], remedy, code="unknown-launch-setting")


def launch_setting_not_used(name: str) -> UsageError:
    what = f"no case uses the launch setting {printable(name)}"
    remedy = f"add it to a case, for example 'pingpong setting=default,{printable(name)}'"
    return UsageError(what, "", remedy, code="launch-setting-not-used", name=name)


def not_a_path(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a path",
        "no file can have this name",
        "use for example runs/first",
        code="not-a-path",
        text=text,
    )


def no_home_folder(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot expand '{printable(str(path))}'",
        "the system has no home folder for that user",
        "give the whole path; set HOME or HOCKNEY_CACHE for hockney's cache",
        code="no-home-folder",
    )
