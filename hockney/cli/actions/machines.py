# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney machines: this machine, simulated and emulated machines, and machines in papers, or the details of
one of them."""

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
        this_machine, mpis = measurement.inspect_host(machine, mpi, reporter.say)
        simulators = _simulator_texts(reporter.say)
    if as_json:
        print_json(
            {
                "kinds": [_kind(kind) for kind in measurement.public_kinds()],
                "machine": this_machine,
                "mpi": mpis,
                "simgrid": simulators,
                "simulated": [_simulated_row(name) for name in simulated.names()],
                "emulated": [_emulated_row(name) for name in emulated.names()],
                "published": [_published_row(name) for name in reference.machine_names()],
            }
        )
        return
    _print_this_machine(this_machine, mpis, simulators)
    rows: tuple[tuple[str, ...], ...] = tuple(
        (kind["machine"], kind["what"]) for kind in map(_kind, measurement.public_kinds())
    )
    _print_list(("--machine", "what it is"), rows)
    rows = tuple(tuple(map(str, _simulated_row(name).values())) for name in simulated.names())
    _print_list(("simulated as", "what it stands for", "nodes", "cores", "network"), rows, numeric=(2, 3))
    rows = tuple(tuple(map(str, _emulated_row(name).values())) for name in emulated.names())
    _print_list(("emulated as", "what it is", "hosts", "rate", "medium"), rows, numeric=(2,))
    papers = [_published_row(name) for name in reference.machine_names()]
    rows = tuple(tuple(str(paper[key]) for key in ("name", "title", "paper", "numbers")) for paper in papers)
    _print_list(("published", "machine", "paper", "numbers"), rows, numeric=(3,))


def _simulator_texts(notify: Callable[[str], None]) -> list[Mpi]:
    """Texts about each SimGrid, or how to install one."""
    simulators = list(find_all_simgrids(os.environ, notify))
    if not simulators:
        try:
            simulators.append(find_simgrid(notify=notify))
        except EnvironmentProblem as problem:
            notify(f"note: {problem}")
    return simulators


def _print_this_machine(here: Machine, mpis: Sequence[Mpi], simulators: Sequence[Mpi]) -> None:
    virtual_text = f", {here.virtual}" if here.virtual else ""
    print_line(f"{here.host}: {here.cpu}, {here.cores} cores, {here.threads} threads{virtual_text}")
    for title, installations in (("MPI", mpis), ("simulator", simulators)):
        rows = tuple(
            (title_of(installation), installation.source, installation.prefix)
            for installation in installations
        )
        if rows:
            _print_list((title, "found by", "in"), rows)


def _kind(kind: measurement.Kind) -> dict[str, str]:
    return {
        "machine": f"{kind.SCHEME}:NAME" if kind.SCHEME else "(none)",
        "kind": kind.KIND,
        "what": kind.HELP,
    }


def _simulated_row(name: str) -> dict[str, str | int]:
    platform = simulated.platform(name)
    return {
        "name": measurement.simulated_reference(name),
        "title": platform.title,
        "nodes": node_count(platform),
        "cores": platform.capacity,
        "network": network_text(platform),
    }


def _emulated_row(name: str) -> dict[str, str | int]:
    ethernet = emulated.ethernet(name)
    return {
        "name": measurement.emulated_reference(name),
        "title": ethernet.title,
        "hosts": ethernet.hosts,
        "rate": format_bit_rate(ethernet.rate),
        "medium": ethernet.medium,
    }


def _published_row(name: str) -> dict[str, str | int]:
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


def find_machine(name: str) -> MachineNumbers:
    """Find the published numbers (a paper's name means all its machines) and the description of a machine.
    Raises UsageError if there is neither, and for an invalid machine file."""
    name = measurement.description_name(name)
    paper_of_machine = reference.machine_names()
    papers = [
        machine_name_ for machine_name_, paper in paper_of_machine.items() if name in (machine_name_, paper)
    ]
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
    return [reference.paper_of(machine_name_) for machine_name_ in papers], description


def _is_machine_name(name: str) -> bool:
    """Whether the name is neither a file nor a bundled machine with a variant or extent, which have specific
    errors."""
    base = name.partition("+")[0]
    is_bundled = any(base == machine or base.startswith(f"{machine}-") for machine in simulated.names())
    return "/" not in name and not name.endswith(".toml") and not is_bundled


def _show(name: str, as_json: bool) -> None:
    reference = MachineReference.parse(name)
    ethernet = emulated.ethernet(reference.name) if reference.scheme == SCHEME else None
    papers, description = ([], None) if ethernet is not None else find_machine(name)
    if as_json:
        platform, variants = description or (None, ())
        print_json({"published": papers, "simulated": platform, "variants": variants, "emulated": ethernet})
        return
    if ethernet is not None:
        _show_emulated(ethernet)
    for index, paper in enumerate(papers):
        _show_published(paper, notes=index == len(papers) - 1)
    if description is not None:
        _show_described(*description)


def _show_published(paper: Published, notes: bool) -> None:
    """Print a published machine. The paper's notes follow the last of its machines."""
    paper_machine = paper.machines[0]
    print_line(f"{paper_machine.title} ({paper_machine.name}), published")
    print_line(paper_machine.text)
    print_line(paper.citation)
    echo()
    paper_tables = [*number_tables(paper), formulas_table(paper)]
    for table in paper_tables:
        if table is not None:
            _print_captioned(table)
    if not any(paper_tables):
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
        rows = tuple(
            (f"+{variant.name}", variant.title, variant.why, ", ".join(variant.keys)) for variant in variants
        )
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
