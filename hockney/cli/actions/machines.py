# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney machines: this machine, simulated and emulated machines, and machines in papers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hockney import measurement, reference
from hockney.cli import messages
from hockney.cli.output.machine_details import show, show_json
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.core.machine import Machine, Mpi
from hockney.core.units import format_bit_rate
from hockney.discovery.simgrid import find_simgrid, simgrids
from hockney.draw.page import Table
from hockney.machines import emulated, simulated
from hockney.mpi import title_of
from hockney.pages.paper_tables import extent, node_count


def action(
    shown: str, exported: str, out: Path | None, mpi: str, machine: str, quiet: bool, as_json: bool
) -> int:
    if shown and exported:
        raise UsageError(
            "--show and --export exclude each other", "", "use only one of them", code="show-with-export"
        )
    if out is not None and not exported:
        raise UsageError(
            "--out requires --export",
            "nothing else is written",
            "add --export NAME",
            code="out-without-export",
        )
    if shown:
        (show_json if as_json else show)(shown)
    elif exported:
        folder = measurement.export_published(exported, out)
        if as_json:
            print_json({"run": str(folder.path)})
        else:
            print_whole(str(folder.path))
    else:
        _all(mpi, machine, quiet, as_json)
    return 0


def _all(mpi: str, machine: str, quiet: bool, as_json: bool) -> None:
    reporter = ProgressReporter(quiet)
    with reporter.doing(messages.examining()):
        here, mpis = measurement.look_around(machine, mpi, reporter.say)
        simulators = _simulators(reporter.say)
    if as_json:
        print_json(
            {
                "kinds": [_kind(kind) for kind in measurement.listed()],
                "machine": here,
                "mpi": mpis,
                "simgrid": simulators,
                "simulated": [_simulated(name) for name in simulated.names()],
                "emulated": [_emulated(name) for name in emulated.names()],
                "published": [_published(name) for name in reference.machine_names()],
            }
        )
        return
    _here(here, mpis, simulators)
    rows: tuple[tuple[str, ...], ...] = tuple(
        (kind["machine"], kind["what"]) for kind in map(_kind, measurement.listed())
    )
    _table(("--machine", "what it is"), rows)
    rows = tuple(tuple(map(str, _simulated(name).values())) for name in simulated.names())
    _table(("simulated as", "what it stands for", "nodes", "cores", "network"), rows, numeric=(2, 3))
    rows = tuple(tuple(map(str, _emulated(name).values())) for name in emulated.names())
    _table(("emulated as", "what it is", "hosts", "rate", "medium"), rows, numeric=(2,))
    papers = [_published(name) for name in reference.machine_names()]
    rows = tuple(tuple(str(paper[key]) for key in ("name", "title", "paper", "numbers")) for paper in papers)
    _table(("published", "machine", "paper", "numbers"), rows, numeric=(3,))


def _simulators(notify: Callable[[str], None]) -> list[Mpi]:
    """Every SimGrid; if there is none, how to get one."""
    simulators = list(simgrids(os.environ, notify))
    if not simulators:
        try:
            simulators.append(find_simgrid(notify=notify))
        except EnvironmentProblem as problem:
            notify(f"note: {problem}")
    return simulators


def _here(here: Machine, mpis: Sequence[Mpi], simulators: Sequence[Mpi]) -> None:
    virtual = f", {here.virtual}" if here.virtual else ""
    print_line(f"{here.host}: {here.cpu}, {here.cores} cores, {here.threads} threads{virtual}")
    for title, listed in (("MPI", mpis), ("simulator", simulators)):
        rows = tuple((title_of(each), each.source, each.prefix) for each in listed)
        if rows:
            _table((title, "found by", "in"), rows)


def _kind(kind: measurement.Kind) -> dict[str, str]:
    return {
        "machine": f"{kind.SCHEME}:NAME" if kind.SCHEME else "(none)",
        "kind": kind.KIND,
        "what": kind.HELP,
    }


def _simulated(name: str) -> dict[str, str | int]:
    platform = simulated.platform(name)
    return {
        "name": measurement.simulated_reference(name),
        "title": platform.title,
        "nodes": node_count(platform),
        "cores": platform.capacity,
        "network": extent(platform),
    }


def _emulated(name: str) -> dict[str, str | int]:
    ethernet = emulated.ethernet(name)
    return {
        "name": measurement.emulated_reference(name),
        "title": ethernet.title,
        "hosts": ethernet.hosts,
        "rate": format_bit_rate(ethernet.rate),
        "medium": ethernet.medium,
    }


def _published(name: str) -> dict[str, str | int]:
    paper = reference.paper_of(name)
    return {
        "name": name,
        "title": paper.title,
        "paper": paper.name,
        "citation": paper.citation,
        "numbers": len(paper.rows) + len(paper.formulas),
    }


def _table(
    columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...], numeric: tuple[int, ...] = ()
) -> None:
    echo()
    print_table(Table(columns[0], "", columns, rows, numeric=numeric))
