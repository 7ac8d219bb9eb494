# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney machines: this machine, simulated and emulated machines, and machines in papers; everything that is
known about one of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hockney import measurement, reference
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table, print_unwrapped
from hockney.cli.output.terminal import echo
from hockney.core.errors import EnvironmentProblem, UsageError, unknown
from hockney.core.ethernet import Ethernet, EthernetOrigin
from hockney.core.machine import Machine, MachineReference, Mpi
from hockney.core.platform import Platform
from hockney.core.units import format_bit_rate, format_rate
from hockney.discovery.simgrid import find_all_simgrids, find_simgrid
from hockney.draw.page import Table
from hockney.machines import emulated, simulated
from hockney.machines.simulated import Variant
from hockney.measurement.kinds.lan import SCHEME
from hockney.mpi import title_of
from hockney.pages.paper_tables import (
    description_table,
    formulas_table,
    network_text,
    node_count,
    number_tables,
)
from hockney.reference import Published


def action(
    shown: str, exported: str, out: Path | None, mpi: str, machine: str, quiet: bool, as_json: bool
) -> int:
    if shown and exported:
        raise UsageError(
            "--show and --export exclude each other", "", "use only one", code="show-with-export"
        )
    if out is not None and not exported:
        raise UsageError(
            "--out requires --export",
            "nothing else is written",
            "add --export NAME",
            code="out-without-export",
        )
    if shown:
        _show(shown, as_json)
    elif exported:
        folder = measurement.export_published(exported, out)
        if as_json:
            print_json({"run": str(folder.path)})
        else:
            print_unwrapped(str(folder.path))
    else:
        _print_all(mpi, machine, quiet, as_json)
    return 0


def _print_all(mpi: str, machine: str, quiet: bool, as_json: bool) -> None:
    reporter = ProgressReporter(quiet)
    with reporter.show_step("examining this machine"):
        here, mpis = measurement.inspect_host(machine, mpi, reporter.say)
        simulators = _simulators(reporter.say)
    if as_json:
        print_json(
            {
                "kinds": [_kind(kind) for kind in measurement.public_kinds()],
                "machine": here,
                "mpi": mpis,
                "simgrid": simulators,
                "simulated": [_simulated(name) for name in simulated.names()],
                "emulated": [_emulated(name) for name in emulated.names()],
                "published": [_published(name) for name in reference.machine_names()],
            }
        )
        return
    _print_this_machine(here, mpis, simulators)
    rows: tuple[tuple[str, ...], ...] = tuple(
        (kind["machine"], kind["what"]) for kind in map(_kind, measurement.public_kinds())
    )
    _print_list(("--machine", "what it is"), rows)
    rows = tuple(tuple(map(str, _simulated(name).values())) for name in simulated.names())
    _print_list(("simulated as", "what it stands for", "nodes", "cores", "network"), rows, numeric=(2, 3))
    rows = tuple(tuple(map(str, _emulated(name).values())) for name in emulated.names())
    _print_list(("emulated as", "what it is", "hosts", "rate", "medium"), rows, numeric=(2,))
    papers = [_published(name) for name in reference.machine_names()]
    rows = tuple(tuple(str(paper[key]) for key in ("name", "title", "paper", "numbers")) for paper in papers)
    _print_list(("published", "machine", "paper", "numbers"), rows, numeric=(3,))


def _simulators(notify: Callable[[str], None]) -> list[Mpi]:
    """Every SimGrid; if there is none, how to get one."""
    simulators = list(find_all_simgrids(os.environ, notify))
    if not simulators:
        try:
            simulators.append(find_simgrid(notify=notify))
        except EnvironmentProblem as problem:
            notify(f"note: {problem}")
    return simulators


def _print_this_machine(here: Machine, mpis: Sequence[Mpi], simulators: Sequence[Mpi]) -> None:
    virtual = f", {here.virtual}" if here.virtual else ""
    print_line(f"{here.host}: {here.cpu}, {here.cores} cores, {here.threads} threads{virtual}")
    for title, listed in (("MPI", mpis), ("simulator", simulators)):
        rows = tuple((title_of(each), each.source, each.prefix) for each in listed)
        if rows:
            _print_list((title, "found by", "in"), rows)


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
        "network": network_text(platform),
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


def _print_list(
    columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...], numeric: tuple[int, ...] = ()
) -> None:
    echo()
    print_table(Table(columns[0], "", columns, rows, numeric=numeric))


MachineNumbers = tuple[list[Published], tuple[Platform, tuple[Variant, ...]] | None]


def find(name: str) -> MachineNumbers:
    """The published numbers (a paper's name stands for all its machines) and the description. Raises
    UsageError if there is neither, and for a machine file with mistakes."""
    name = measurement.description_name(name)
    paper_of_machine = reference.machine_names()
    papers = [each for each, paper in paper_of_machine.items() if name in (each, paper)]
    try:
        description = simulated.platform(name), simulated.variants(name)
    except UsageError:
        if name in simulated.names() or not (papers or _is_machine_name(name)):
            raise
        if not papers:
            raise unknown(
                "machine",
                name,
                sorted({*simulated.names(), *paper_of_machine, *reference.names()}),
                code="unknown-machine-to-show",
            ) from None
        description = None
    return [reference.paper_of(each) for each in papers], description


def _is_machine_name(name: str) -> bool:
    """Not a file, nor a machine of hockney's own with a variant or extent: those have errors of their own."""
    base = name.partition("+")[0]
    own = any(base == machine or base.startswith(f"{machine}-") for machine in simulated.names())
    return "/" not in name and not name.endswith(".toml") and not own


def _show(name: str, as_json: bool) -> None:
    reference = MachineReference.parse(name)
    ethernet = emulated.ethernet(reference.name) if reference.scheme == SCHEME else None
    papers, description = ([], None) if ethernet is not None else find(name)
    if as_json:
        platform, variants = description or (None, ())
        print_json({"published": papers, "simulated": platform, "variants": variants, "emulated": ethernet})
        return
    if ethernet is not None:
        _show_emulated(ethernet)
    for k, paper in enumerate(papers):
        _show_published(paper, notes=k == len(papers) - 1)
    if description is not None:
        _show_described(*description)


def _show_published(paper: Published, notes: bool) -> None:
    """The paper's own notes come once, behind the last of its machines."""
    about = paper.machines[0]
    print_line(f"{about.title} ({about.name}), published")
    print_line(about.text)
    print_line(paper.citation)
    echo()
    shown = [*number_tables(paper), formulas_table(paper)]
    for table in shown:
        if table is not None:
            _print_captioned(table)
    if not any(shown):
        print_line("no number is printed for it")
        echo()
    if notes:
        _print_notes("How it was measured", paper.method)
        _print_notes("Other remarks in the paper", paper.facts)
        _print_notes("How it was copied", paper.transcription)
        _print_notes("What does not agree", paper.inconsistencies)


def _show_described(platform: Platform, variants: tuple[Variant, ...]) -> None:
    print_line(f"{platform.title} ({measurement.simulated_reference(platform.name)}), simulated")
    if platform.source:
        print_line(platform.source)
    print_line(f"{node_count(platform)} nodes, {platform.capacity} cores, {network_text(platform)}")
    echo()
    _print_captioned(description_table(platform))
    if variants:
        rows = tuple((f"+{v.name}", v.title, v.why, ", ".join(v.keys)) for v in variants)
        _print_captioned(Table("variants", "", ("variant", "what", "why", "changes"), rows))
    _print_notes("Notes", platform.notes)


def _show_emulated(ethernet: Ethernet) -> None:
    print_line(f"{ethernet.title} ({measurement.emulated_reference(ethernet.name)}), emulated")
    if ethernet.source:
        print_line(ethernet.source)
    print_line(f"payload rate {format_rate(ethernet.payload_rate)}")
    echo()
    origins = {origin.key: origin for origin in ethernet.origins}
    rows = tuple(
        (key, emulated.value_text(key, getattr(ethernet, key)).strip('"'), *_origin(origins.get(key)))
        for key in emulated.NUMBERS
    )
    _print_captioned(Table("parameters", "", ("parameter", "value", "origin", "source"), rows))
    _print_notes("Notes", ethernet.notes)


def _origin(origin: EthernetOrigin | None) -> tuple[str, str]:
    return (origin.status, origin.source) if origin else ("", "")


def _print_captioned(table: Table) -> None:
    print_table(table)
    if table.caption:
        print_line(table.caption)
    echo()


def _print_notes(title: str, lines: Iterable[str]) -> None:
    lines = tuple(lines)
    if lines:
        print_line(f"{title}:")
        for line in lines:
            print_line(f"- {line}", hang="  ")
        echo()
