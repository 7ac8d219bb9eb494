# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Everything known about a machine other than this one: its published numbers and its description."""

from __future__ import annotations

from collections.abc import Iterable

from hockney import measurement, reference
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.errors import UsageError, unknown
from hockney.core.ethernet import Ethernet, EthernetOrigin
from hockney.core.machine_reference import MachineReference
from hockney.core.platform import Platform
from hockney.core.units import format_rate
from hockney.draw.page import Table
from hockney.machines import emulated, simulated
from hockney.machines.simulated import Variant
from hockney.measurement.kinds.lan import SCHEME
from hockney.pages.paper_tables import described, extent, formulas, node_count, tables
from hockney.reference import Published

Found = tuple[list[Published], tuple[Platform, tuple[Variant, ...]] | None]


def find(name: str) -> Found:
    """The published numbers (a paper's name stands for all its machines) and the description. Raises
    UsageError if there is neither, and for a machine file with mistakes."""
    name = measurement.description_name(name)
    known = reference.machine_names()
    papers = [each for each, paper in known.items() if name in (each, paper)]
    try:
        description = simulated.platform(name), simulated.variants(name)
    except UsageError:
        if name in simulated.names() or not (papers or _is_a_word(name)):
            raise
        if not papers:
            raise unknown(
                "machine",
                name,
                sorted({*simulated.names(), *known, *reference.names()}),
                code="unknown-machine-to-show",
            ) from None
        description = None
    return [reference.paper_of(each) for each in papers], description


def _is_a_word(name: str) -> bool:
    """Not a file, nor a machine of hockney's own with a variant or extent: those have errors of their own."""
    base = name.partition("+")[0]
    own = any(base == known or base.startswith(f"{known}-") for known in simulated.names())
    return "/" not in name and not name.endswith(".toml") and not own


def show(name: str) -> None:
    ethernet = _ethernet(name)
    if ethernet is not None:
        _show_emulated(ethernet)
        return
    papers, description = find(name)
    for k, paper in enumerate(papers):
        _show_published(paper, notes=k == len(papers) - 1)
    if description is not None:
        _show_described(*description)


def show_json(name: str) -> None:
    ethernet = _ethernet(name)
    if ethernet is not None:
        print_json({"published": [], "simulated": None, "variants": [], "emulated": ethernet})
        return
    papers, description = find(name)
    platform, variants = description or (None, ())
    print_json({"published": papers, "simulated": platform, "variants": variants, "emulated": None})


def _ethernet(name: str) -> Ethernet | None:
    """If `name` is that of an emulated machine."""
    reference = MachineReference.parse(name)
    return emulated.ethernet(reference.name) if reference.scheme == SCHEME else None


def _show_published(paper: Published, notes: bool) -> None:
    """The paper's own notes come once, behind the last of its machines."""
    about = paper.machines[0]
    print_line(f"{about.title} ({about.name}), published")
    print_line(about.text)
    print_line(paper.citation)
    echo()
    shown = [*tables(paper), formulas(paper)]
    for table in shown:
        if table is not None:
            _table(table)
    if not any(shown):
        print_line("no number is printed for it")
        echo()
    if notes:
        _listed("How it was measured", paper.method)
        _listed("Other remarks in the paper", paper.facts)
        _listed("How it was copied", paper.transcription)
        _listed("What does not agree", paper.inconsistencies)


def _show_described(platform: Platform, variants: tuple[Variant, ...]) -> None:
    print_line(f"{platform.title} ({measurement.simulated_reference(platform.name)}), simulated")
    if platform.source:
        print_line(platform.source)
    print_line(f"{node_count(platform)} nodes, {platform.capacity} cores, {extent(platform)}")
    echo()
    _table(described(platform))
    if variants:
        rows = tuple((f"+{v.name}", v.title, v.why, ", ".join(v.keys)) for v in variants)
        _table(Table("variants", "", ("variant", "what", "why", "changes"), rows))
    _listed("Notes", platform.notes)


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
    _table(Table("parameters", "", ("parameter", "value", "origin", "source"), rows))
    _listed("Notes", ethernet.notes)


def _origin(origin: EthernetOrigin | None) -> tuple[str, str]:
    return (origin.status, origin.source) if origin else ("", "")


def _table(table: Table) -> None:
    print_table(table)
    if table.caption:
        print_line(table.caption)
    echo()


def _listed(title: str, lines: Iterable[str]) -> None:
    lines = tuple(lines)
    if lines:
        print_line(f"{title}:")
        for line in lines:
            print_line(f"- {line}", hang="  ")
        echo()
