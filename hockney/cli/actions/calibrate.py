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
MAX_MISSED = 10
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
    given = simulated.platform(measurement.description_name(network)) if network else None
    reporter = ProgressReporter(quiet)
    with reporter.show_step(f"reading {printable(str(run))}"):
        folder = RunFolder.open(run)
        real, results = measurement.calibration_survey(folder, cost)
        caveats = caveats_of(folder, results)
    for notice in results.notices:
        reporter(notice)
    platform = calibrate(real, CalibrationOptions(name=name, nodes=nodes, noise=noise, network=given))
    text = simulated.write(platform)
    simulated.read(text, str(out or "the machine"))
    if out is not None:
        write_user_file(out, text.encode("utf-8"))
    elif not (check or against or as_json):
        click.echo(text, nl=False)
    agreements: list[Agreement] = []
    if check or against is not None:
        original = (
            real if against is None else measurement.calibration_survey(RunFolder.open(against), cost)[0]
        )
        with reporter:
            twin = measurement.survey_twin(platform, original, reporter.say, reporter)
        agreements = compare(original, twin)
    if as_json:
        print_json({"machine": platform, "agreement": agreements, "doubts": caveats})
    else:
        if agreements:
            _print_agreements(agreements)
            if against is None or against.resolve() == run.resolve():
                print_line(twin_of_this_run(), hang="  ")
        if out is not None:
            _print_machine(platform, caveats, out)
    return _exit_code(agreements)


def _exit_code(agreements: list[Agreement]) -> int:
    if _disagreements(agreements):
        return ExitCode.ANSWER_IS_NO
    counted = [each for each in agreements if each.counts]
    undecided = sum(each.verdict == "undecided" for each in counted)
    return ExitCode.INCONCLUSIVE if undecided > len(counted) / 2 else ExitCode.FINE


def _disagreements(agreements: list[Agreement]) -> list[Agreement]:
    return [each for each in agreements if each.counts and each.verdict == "disagrees"]


def _print_machine(platform: Platform, caveats: Sequence[Caveat], out: Path) -> None:
    """`caveats` are those of the run."""
    nodes = sum(group.count for group in platform.nodes)
    print_line(f"{platform.name}: room for {platform.capacity} ranks on {nodes} nodes")
    for note in platform.notes:
        print_labelled("note", note)
    print_caveats(caveats)
    print_unwrapped(f"machine: {out}")
    twin, ranks = measurement.simulated_reference(str(out)), min(1024, platform.capacity)
    guessed = simulated.between_nodes_guessed(platform) and ranks > platform.nodes[0].cores
    print_unwrapped(
        f"try: hockney run allreduce --machine {twin} --ranks {ranks}"
        + (" --assume-network" if guessed else "")
    )


def _print_agreements(agreements: list[Agreement]) -> None:
    rows = tuple(
        (
            each.what,
            with_bracketed_interval(each.real, each.unit),
            quantity(each.twin, each.unit),
            f"{round(each.error, 3) + 0.0:+.1%}",  # no -0.0%
            AGREEMENT_TEXTS[each.verdict]
            + ("" if each.counts or each.verdict == "agrees" else " (poor fit)"),
        )
        for each in agreements
    )
    columns = ("of", "real [95% interval]", "twin", "error", "agrees")
    print_table(Table("agreement", "", columns, rows, numeric=(1, 2, 3)))
    counted = [each for each in agreements if each.counts]
    counts = Counter(each.verdict for each in counted)
    poor = len(agreements) - len(counted)
    print_line(twin_agreement(counts["agrees"], counts["undecided"], counts["disagrees"], poor))
    if counts["undecided"]:
        print_line(twin_undecided(DECIDED), hang="  ")
    missed = sorted(_disagreements(agreements), key=lambda each: -abs(each.error))
    for each in missed[:MAX_MISSED]:
        has_interval = each.real.low is not None and each.real.high is not None
        shown = interval(each.real, each.unit) if has_interval else ""
        print_line(twin_disagrees(each.what, each.error, each.within, shown), hang="  ")
    if missed:
        rest = f" ({len(missed) - MAX_MISSED} more than listed)" if len(missed) > MAX_MISSED else ""
        noun = "quantity does" if len(missed) == 1 else "quantities do"
        print_line(f"Exit code 1: {len(missed)} {noun} not agree{rest}.")


def twin_agreement(agreeing: int, undecided: int, disagreeing: int, poor: int) -> str:
    """`poor` more quantities come from poor fits, which are not counted."""
    counted = plural(agreeing + undecided + disagreeing, "quantity", "quantities")
    text = f"{agreeing} of {counted} {verb_form(agreeing, 'agrees', 'agree')}"
    if undecided:
        text += f", {undecided} {verb_form(undecided, 'is', 'are')} undecided"
    if disagreeing:
        text += f", {disagreeing} {verb_form(disagreeing, 'disagrees', 'disagree')}"
    return text + (f"; {poor} more from poor fits {verb_form(poor, 'is', 'are')} not counted" if poor else "")


def twin_undecided(limit: float) -> str:
    return (
        f"undecided: the twin is more than {limit:.0%} off, but the interval of the real one is so wide "
        "that it includes the twin"
    )


def twin_of_this_run() -> str:
    return (
        "The machine file was made from this run, so agreement shows only that the simulator reproduces the "
        "file. To test the file, compare the twin with another run: --against RUN."
    )


def twin_disagrees(what: str, error: float, within: float, interval: str) -> str:
    """`interval` is the real machine's, "" where it is not known."""
    beyond = f" and outside the interval of the real one ({interval})" if interval else ""
    return f"disagrees: {what}, off by {error:+.1%}, more than {within:.0%}{beyond}"
