# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney doctor: whether this machine can measure, and if not, why."""

from __future__ import annotations

from typing import Any

from hockney import measurement
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_findings, print_json
from hockney.core.errors import ExitCode
from hockney.core.launcher_options import parse_launcher_options
from hockney.core.layout import HostOptions


def action(
    mpi: str,
    machine: str,
    noise: float,
    no_noise: bool,
    mpiexec_args: str,
    variables: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    **places: Any,
) -> int:
    findings = []
    user_options = parse_launcher_options(mpiexec_args, variables)
    reporter = ProgressReporter(quiet)
    steps = iter(
        measurement.examine(machine, mpi, 0.0 if no_noise else noise, HostOptions(**places), user_options)
    )
    while True:
        with reporter.show_step("examining this machine"):
            finding = next(steps, None)
        if finding is None:
            break
        findings.append(finding)
        if not as_json:
            print_findings([finding])
    if as_json:
        print_json(findings)
    return ExitCode.ENVIRONMENT if any(finding.verdict == "bad" for finding in findings) else 0
