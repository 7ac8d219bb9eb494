# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney calibrate: turn a survey of a real machine into a simulated one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from hockney import measurement
from hockney.api.run_contents import caveats_of
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table, print_unwrapped
from hockney.core.errors import ExitCode, UsageError, printable
from hockney.core.fit import Cost
from hockney.core.platform import Platform
from hockney.core.wording import plural, verb_form
from hockney.draw.page import Caveat, Table
from hockney.machines import simulated
from hockney.machines.simulated.calibrate import DECIDED, Agreement, CalibrationOptions, calibrate, compare
from hockney.pages.format import interval, quantity, with_bracketed_interval
from hockney.store import RunFolder
from hockney.system.files import write_user_file

SUFFIX = ".toml"
AGREEMENT_TEXTS = {"agrees": "yes", "undecided": "undecided", "disagrees": "no"}
MAX_SHOWN_DISAGREEMENTS = 10
"""At most this many deviations are explained, the largest first."""


def action(
    run: Path,
    out: Path | None,
    name: str,
    nodes: int,
    network: str,
    noise: bool,
    check: bool,
    against: Path | None,
    cost: Cost,
    quiet: bool,
    as_json: bool,
) -> int:
    if out is not None and out.suffix != SUFFIX:
        raise UsageError(
            f"{printable(str(out))} is not a name for a machine file",
            f"machine files end in {SUFFIX}",
            f"use --out {printable(str(out))}{SUFFIX}",
            code="not-a-machine-file-name",
            path=out,
        )
    network_platform = simulated.platform(measurement.description_name(network)) if network else None
    reporter = ProgressReporter(quiet)
    with reporter.show_step(f"reading {printable(str(run))}"):
        folder = RunFolder.open(run)
        real_survey, results = measurement.calibration_survey(folder, cost)
        caveats = caveats_of(folder, results)
    for notice in results.notices:
        reporter(notice)
    platform = calibrate(
        real_survey, CalibrationOptions(name=name, nodes=nodes, noise=noise, network=network_platform)
    )
    text = simulated.write(platform)
    simulated.read(text, str(out or "the machine"))
    if out is not None:
        write_user_file(out, text.encode("utf-8"))
    elif not (check or against or as_json):
        click.echo(text, nl=False)
    agreements: list[Agreement] = []
    if check or against is not None:
        source_survey = (
            real_survey
            if against is None
            else measurement.calibration_survey(RunFolder.open(against), cost)[0]
        )
        with reporter:
            twin = measurement.survey_twin(platform, source_survey, reporter.say, reporter)
        agreements = compare(source_survey, twin)
    if as_json:
        print_json({"machine": platform, "agreement": agreements, "doubts": caveats})
    else:
        if agreements:
            _print_agreements(agreements)
            if against is None or against.resolve() == run.resolve():
                print_line(own_twin_text(), hang="  ")
        if out is not None:
            _print_machine(platform, caveats, out)
    return _exit_code(agreements)


def _exit_code(agreements: list[Agreement]) -> int:
    if _disagreements(agreements):
        return ExitCode.ANSWER_IS_NO
    counted_agreements = [agreement for agreement in agreements if agreement.counts]
    undecided = sum(agreement.verdict == "undecided" for agreement in counted_agreements)
    return ExitCode.INCONCLUSIVE if undecided > len(counted_agreements) / 2 else ExitCode.SUCCESS


def _disagreements(agreements: list[Agreement]) -> list[Agreement]:
    return [agreement for agreement in agreements if agreement.counts and agreement.verdict == "disagrees"]


def _print_machine(platform: Platform, caveats: Sequence[Caveat], out: Path) -> None:
    """Print a summary of the machine. `caveats` are the caveats of the run."""
    nodes = sum(group.count for group in platform.nodes)
    print_line(f"{platform.name}: room for {platform.capacity} ranks on {nodes} nodes")
    for note in platform.notes:
        print_labelled("note", note)
    print_caveats(caveats)
    print_unwrapped(f"machine: {out}")
    twin, ranks = measurement.simulated_reference(str(out)), min(1024, platform.capacity)
    has_guesses = simulated.between_nodes_guessed(platform) and ranks > platform.nodes[0].cores
    print_unwrapped(
        f"try: hockney run allreduce --machine {twin} --ranks {ranks}"
        + (" --assume-network" if has_guesses else "")
    )


def _print_agreements(agreements: list[Agreement]) -> None:
    rows = tuple(
        (
            agreement.what,
            with_bracketed_interval(agreement.real, agreement.unit),
            quantity(agreement.twin, agreement.unit),
            f"{round(agreement.error, 3) + 0.0:+.1%}",  # no -0.0%
            AGREEMENT_TEXTS[agreement.verdict]
            + ("" if agreement.counts or agreement.verdict == "agrees" else " (poor fit)"),
        )
        for agreement in agreements
    )
    columns = ("of", "real [95% interval]", "twin", "error", "agrees")
    print_table(Table("agreement", "", columns, rows, numeric=(1, 2, 3)))
    counted_agreements = [agreement for agreement in agreements if agreement.counts]
    counts = Counter(agreement.verdict for agreement in counted_agreements)
    poor_fit_count = len(agreements) - len(counted_agreements)
    print_line(agreement_text(counts["agrees"], counts["undecided"], counts["disagrees"], poor_fit_count))
    if counts["undecided"]:
        print_line(undecided_text(DECIDED), hang="  ")
    disagreements = sorted(_disagreements(agreements), key=lambda agreement: -abs(agreement.error))
    for agreement in disagreements[:MAX_SHOWN_DISAGREEMENTS]:
        has_interval = agreement.real.low is not None and agreement.real.high is not None
        value_text = interval(agreement.real, agreement.unit) if has_interval else ""
        print_line(
            disagreement_text(agreement.what, agreement.error, agreement.within, value_text), hang="  "
        )
    if disagreements:
        other_text = (
            f" ({len(disagreements) - MAX_SHOWN_DISAGREEMENTS} more than listed)"
            if len(disagreements) > MAX_SHOWN_DISAGREEMENTS
            else ""
        )
        noun = "quantity does" if len(disagreements) == 1 else "quantities do"
        print_line(f"Exit code 1: {len(disagreements)} {noun} not agree{other_text}.")


def agreement_text(agreeing: int, undecided: int, disagreeing: int, poor: int) -> str:
    """Summary of the agreement. `poor` additional quantities from poor fits are not counted."""
    total_text = plural(agreeing + undecided + disagreeing, "quantity", "quantities")
    text = f"{agreeing} of {total_text} {verb_form(agreeing, 'agrees', 'agree')}"
    if undecided:
        text += f", {undecided} {verb_form(undecided, 'is', 'are')} undecided"
    if disagreeing:
        text += f", {disagreeing} {verb_form(disagreeing, 'disagrees', 'disagree')}"
    return text + (f"; {poor} more from poor fits {verb_form(poor, 'is', 'are')} not counted" if poor else "")


def undecided_text(limit: float) -> str:
    return (
        f"undecided: the twin is more than {limit:.0%} off, but the interval of the real one is so wide "
        "that it includes the twin"
    )


def own_twin_text() -> str:
    return (
        "The machine file was made from this run, so agreement shows only that the simulator reproduces the "
        "file. To test the file, compare the twin with another run: --against RUN."
    )


def disagreement_text(what: str, error: float, within: float, interval: str) -> str:
    """Description of a disagreement. `interval` is the real machine's interval, "" if unknown."""
    interval_text = f" and outside the interval of the real one ({interval})" if interval else ""
    return f"disagrees: {what}, off by {error:+.1%}, more than {within:.0%}{interval_text}"
