# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs made of logs: one for each suite and version.

Each time that a benchmark was run is a launch (one for each of its numbers of ranks), so that several logs of
one benchmark are several launches. A log given twice counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from hockney import __version__
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.machine import IMPORTED_TRAITS, Machine
from hockney.core.notice import Notice
from hockney.core.record import SCHEMA, Clock, Launch, Rank, Record, RunRecords, Stop, Sync, Verified
from hockney.core.settings import MOST_LAUNCHES
from hockney.core.wording import list_names, plural
from hockney.imports.conversion import Converted, Omitted, convert, in_place
from hockney.imports.formats import LogFile, all_formats
from hockney.imports.log import MOST_CHARACTERS, MOST_RANKS, Invocation, LogTable, Row
from hockney.reference.peers import Benchmark, BenchmarkGroup, benchmark_named
from hockney.system.bundled import bundled_catalog, catalog_with

UNKNOWN_MACHINE = "unknown machine"
ON_GPUS = "The buffers were in the memory of GPUs; those of hockney are in the memory of hosts."
UNSAFE = re.compile(r"[^\w.+-]")
"""Characters that are not part of a folder's name."""
MOST_VERSION = 60


@dataclass(frozen=True)
class ImportedRun:
    """A run made of logs. Its `name` contains the suite and its version; `notices` say what was left out."""

    name: str
    machine: Machine
    run: RunRecords
    catalog: Catalog
    notices: tuple[Notice, ...]


@dataclass
class _Group:
    """The logs of one version of a suite. `launches` have the converted rows of an invocation."""

    suite: str
    version: str
    files: dict[str, None] = field(default_factory=dict)
    launches: list[tuple[Invocation, float, list[Converted]]] = field(default_factory=list)
    omitted: dict[tuple[str, str, str], int] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    assumed: dict[str, None] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{all_formats()[self.suite].TITLE} {self.version}".strip()


def assemble(
    files: Sequence[LogFile], *, ranks: int | None = None, machine: str = "", same_buffers: bool = False
) -> list[ImportedRun]:
    """`ranks` is their number where a log does not contain it, `machine` the name of the machine, for people.
    `same_buffers` selects nccl-tests' in-place columns.

    Raises UsageError if no file contains a known format or if a number of ranks is unknown, Inconclusive if
    no number corresponds to a case.
    """
    if not any(file.logs for file in files):
        raise _no_logs([file.name for file in files], [f.TITLE for f in all_formats().values()])
    _refuse_unknown_ranks(files, ranks)
    catalog = _catalog(files)
    groups: dict[tuple[str, str], _Group] = {}
    general: list[Notice] = []
    for file in files:
        for suite, log in file.logs.items():
            for index, invocation in enumerate(log.invocations):
                tables = [table for table in log.tables if table.invocation == index]
                if tables:
                    group = groups.setdefault((suite, invocation.version), _Group(suite, invocation.version))
                    _add(group, file, invocation, tables, ranks, same_buffers, catalog)
        general += _file_notices(file)
    runs = [_make_run(group, machine, ranks, catalog) for group in groups.values() if group.launches]
    if not runs:
        reasons = [reason for group in groups.values() for *_, reason in group.omitted]
        raise _nothing_imported([file.name for file in files], list(dict.fromkeys(reasons)))
    general += [notice for group in groups.values() if not group.launches for notice in _notices(group)]
    runs = [
        replace(each, name=name)
        for each, name in zip(runs, _unique_names([m.name for m in runs]), strict=True)
    ]
    return [replace(runs[0], notices=(*runs[0].notices, *general)), *runs[1:]]


def _unique_names(names: Sequence[str]) -> list[str]:
    """Number repeated names, also if they differ in upper and lower case only, which some file systems
    ignore."""
    unique: dict[str, str] = {}
    for name in names:
        other, count = name, 1
        while other.lower() in unique:
            count += 1
            other = f"{name}-{count}"
        unique[other.lower()] = other
    return list(unique.values())


def _file_notices(file: LogFile) -> Iterator[Notice]:
    """Notices about the parts of the file that were not understood."""
    if not file.logs:
        yield Notice(f"{printable(file.name)}: no benchmark's output in it", "nothing-known-in-log")
    for log in file.logs.values():
        if log.bad:
            yield _bad_lines(file.name, [each.line for each in log.bad], log.bad[0].text)
    if file.long:
        yield _long_lines(file.name, file.long, MOST_CHARACTERS)
    if file.cut:
        yield Notice(
            f"{printable(file.name)}: line {file.cut}, the last one, is left out: it has no end and may be "
            "cut off",
            "log-cut-off",
        )


def _find_benchmark(table: LogTable) -> tuple[Benchmark, BenchmarkGroup] | None:
    """The benchmark of a table whose numbers can be those of a case; None for others."""
    found = benchmark_named(table.benchmark)
    return None if found is None or table.unusable or not found[0].case else found


def _refuse_unknown_ranks(files: Iterable[LogFile], ranks: int | None) -> None:
    """Raises UsageError if a number of ranks is unknown."""
    unknown = [
        (table.benchmark, file.name)
        for file in files
        for log in file.logs.values()
        for table in log.tables
        if table.rows and (found := _find_benchmark(table)) and _ranks(table, found[0], ranks) is None
    ]
    if unknown:
        benchmarks, names = (list(dict.fromkeys(column)) for column in zip(*unknown, strict=True))
        raise UsageError(
            f"the number of ranks of {list_names(benchmarks)} is unknown",
            f"{list_names([printable(name) for name in names])} does not contain it"
            if len(names) == 1
            else f"{list_names([printable(name) for name in names])} do not contain it",
            "give it with --ranks, and import logs of different numbers of ranks separately",
            code="log-ranks-unknown",
            benchmarks=tuple(benchmarks),
            files=tuple(names),
        )


def _ranks(table: LogTable, benchmark: Benchmark, given_ranks: int | None) -> int | None:
    """The number of ranks in the benchmark's case, or else in the table, or else as given by the user."""
    for word in benchmark.case.split():
        if word.startswith("ranks="):
            return int(word.removeprefix("ranks="))
    return table.ranks or given_ranks


def _catalog(files: Iterable[LogFile]) -> Catalog:
    tables = [table for file in files for log in file.logs.values() for table in log.tables]
    benchmarks = [pair[0] for table in tables if (pair := _find_benchmark(table))]
    return catalog_with(bundled_catalog(), {each.case.split()[0] for each in benchmarks})


def _add(
    group: _Group,
    file: LogFile,
    invocation: Invocation,
    tables: Sequence[LogTable],
    given_ranks: int | None,
    same_buffers: bool,
    catalog: Catalog,
) -> None:
    """Add the tables of one invocation: a launch for each number of ranks, and more if a case is there
    twice."""
    group.files[file.name] = None
    if invocation.complete is False:
        group.notices.append(
            Notice(
                f"{printable(file.name)}: {group.title} did not print its end, so it did not finish or the "
                "log is incomplete",
                "log-not-finished",
            )
        )
    started_s = invocation.started_s or file.modified_s
    if not invocation.started_s and started_s:
        group.notes["The logs contain no date; the date is that of the file."] = None
    launches: dict[tuple[int, int], list[Converted]] = {}
    seen: dict[str, int] = {}
    for table in tables:
        for each in _convert_table(group, file, table, given_ranks, same_buffers, catalog):
            seen[each.case.line] = seen.get(each.case.line, 0) + 1
            launches.setdefault((each.case.ranks, seen[each.case.line]), []).append(each)
    if len(group.launches) + len(launches) > MOST_LAUNCHES:
        count = len(group.launches) + len(launches)
        raise UsageError(
            f"a case of {printable(group.title)} is there {count} times",
            f"each time is a launch, and a run has at most {MOST_LAUNCHES}",
            "import fewer logs, or some of them at a time",
            code="log-too-many-launches",
            count=count,
            most=MOST_LAUNCHES,
        )
    if launches and invocation.gpu:
        group.notes[ON_GPUS] = None
    if launches and same_buffers and group.suite == "nccl":
        group.notes["The times are those with the same buffer for input and output (in-place)."] = None
    group.launches += [(invocation, started_s, each) for each in launches.values()]


def _convert_table(
    group: _Group,
    file: LogFile,
    table: LogTable,
    given_ranks: int | None,
    same_buffers: bool,
    catalog: Catalog,
) -> list[Converted]:
    """Convert the rows that correspond to cases, and count the others as omitted."""
    pair = _find_benchmark(table)
    if pair is None or not table.rows:
        found = benchmark_named(table.benchmark)
        reason = table.unusable or (found[0].reason if found else "hockney does not know this benchmark")
        reason = reason if pair is None else "the table has no rows"
        _omit(group, file, table, reason, max(1, len(table.rows)))
        return []
    benchmark, definitions = pair
    ranks = _ranks(table, benchmark, given_ranks) or 0
    if ranks > MOST_RANKS:
        reason = f"it ran on {ranks} ranks, and hockney imports launches of at most {MOST_RANKS}"
        _omit(group, file, table, reason, len(table.rows))
        return []
    if table.ranks is None and "ranks=" not in benchmark.case:
        group.assumed[benchmark.name] = None
    rows: list[Row] = list(table.rows)
    if same_buffers and table.suite == "nccl":
        in_place_rows = [in_place(row) for row in rows]
        _omit(group, file, table, "it has no time for the same buffers", in_place_rows.count(None))
        rows = [row for row in in_place_rows if row is not None]
    selected = LogTable(table.suite, table.benchmark, table.line, tuple(rows), parameters=table.parameters)
    converted = []
    for each in convert(selected, benchmark, ranks, catalog):
        if isinstance(each, Omitted):
            _omit(group, file, table, each.reason, 1)
        else:
            converted.append(each)
    if converted:
        group.notes[f"{definitions.title}: {definitions.defined}"] = None
        if benchmark.differs:
            group.notes[f"{benchmark.name} became {benchmark.case}: {benchmark.differs}."] = None
    return converted


def _omit(group: _Group, file: LogFile, table: LogTable, reason: str, count: int) -> None:
    if count:
        key = file.name, table.benchmark, reason
        group.omitted[key] = group.omitted.get(key, 0) + count


def _notices(group: _Group) -> list[Notice]:
    omitted = [
        Notice(
            f"{printable(where)}: {plural(count, 'number')} of {printable(benchmark)} not imported: "
            f"{reason}.",
            "not-imported",
        )
        for (where, benchmark, reason), count in group.omitted.items()
    ]
    return [*omitted, *group.notices]


def _make_run(group: _Group, machine: str, given_ranks: int | None, catalog: Catalog) -> ImportedRun:
    group.launches.sort(key=lambda each: each[1])
    hosts = list(dict.fromkeys(host for invocation, *_ in group.launches for host in invocation.hosts))
    systems = {invocation.system for invocation, *_ in group.launches}
    name = machine or _hosts(hosts) or UNKNOWN_MACHINE
    launches, records = [], []
    for index, (invocation, started_s, converted) in enumerate(group.launches):
        launches.append(_launch(group, index, invocation, started_s, converted[0].case.ranks, name))
        records += [_record(each, launches[-1], position, catalog) for position, each in enumerate(converted)]
    notices = tuple(_notices(group))
    assumed = (
        f"The number of ranks, {given_ranks}, was given at the import, for {list_names(list(group.assumed))}."
    )
    notes = [
        f"Each number is one mean as {group.title} printed it; each time that the benchmark was run is a "
        "launch. Repetitions, their distribution and warm-up are unknown, and nothing was verified by "
        "hockney.",
        *group.notes,
        *([assumed] if given_ranks and group.assumed else []),
        *(notice.text for notice in notices),
    ]
    most_ranks = max(len(launch.ranks) for launch in launches)
    description = Machine(
        schema=SCHEMA,
        kind="imported",
        traits=IMPORTED_TRAITS,
        host=name,
        system=systems.pop() if len(systems) == 1 else "",
        cpu=group.title,
        cores=most_ranks,
        threads=most_ranks,
        hockney=__version__,
        citation=", ".join(map(printable, group.files)),
        notes=notes,
    )
    version = UNSAFE.sub("_", group.version)[:MOST_VERSION].rstrip("_")
    short = f"{group.suite}-{version}" if version else group.suite
    return ImportedRun(short, description, RunRecords(tuple(launches), tuple(records)), catalog, notices)


def _hosts(names: Sequence[str]) -> str:
    """The first host and the number of others; "" if `names` is empty."""
    if len(names) < 2:
        return "".join(names)
    return f"{names[0]} and {plural(len(names) - 1, 'other host')}"


def _launch(
    group: _Group, index: int, invocation: Invocation, started_s: float, ranks: int, machine: str
) -> Launch:
    hosts = invocation.hosts if len(invocation.hosts) == ranks else (machine,) * ranks
    return Launch(
        schema=SCHEMA,
        launch=f"imported-{index}",
        index=index,
        origin=IMPORTED_TRAITS.origin,
        started_s=started_s,
        ranks=[Rank(host=host, pid=0, cpus="") for host in hosts],
        mpi_standard=invocation.standard,
        library=invocation.library,
        engine="",
        compiler="",
        clock=Clock(overhead_s=0.0, resolution_s=0.0),
    )


def _record(each: Converted, launch: Launch, position: int, catalog: Catalog) -> Record:
    return Record(
        schema=SCHEMA,
        launch=launch.launch,
        origin=IMPORTED_TRAITS.origin,
        position=position,
        case=each.case.line,
        started_s=launch.started_s,
        times_s=[each.seconds],
        batch=each.repetitions,
        warmup_s=[],
        bytes_moved=each.bytes_moved,
        sync=msgspec.convert({"kind": each.case.get("sync", "none")}, Sync),
        stop=Stop(reason="repetitions", precision=0.0, achieved=None),
        verified=Verified(
            bytes=0, errors=each.errors, first="reported by the benchmark" if each.errors else ""
        ),
        metrics=dict(each.metrics),
    )


def _no_logs(files: Sequence[str], formats: Sequence[str]) -> UsageError:
    return UsageError(
        f"no benchmark's output in {list_names([printable(name) for name in files])}",
        f"hockney reads the output of {list_names(formats, len(formats))}",
        "name files that contain their tables as they were printed",
        code="no-benchmark-output",
        files=tuple(files),
    )


def _nothing_imported(files: Sequence[str], reasons: Sequence[str]) -> Inconclusive:
    return Inconclusive(
        f"no number of {list_names([printable(name) for name in files])} corresponds to a case",
        list_names(reasons),
        "see docs/reference/peers.md for the benchmarks that do",
        code="nothing-imported",
        reasons=tuple(reasons),
    )


def _bad_lines(name: str, lines: Sequence[int], first: str) -> Notice:
    """Lines inside tables that are no rows."""
    where = list_names([str(line) for line in lines])
    return Notice(
        f"{printable(name)}: {plural(len(lines), 'line')} in tables left out, as they are incomplete or "
        f"garbled (line {where}, '{printable(first)}')",
        "garbled-lines",
    )


def _long_lines(name: str, lines: Sequence[int], most: int) -> Notice:
    where = list_names([str(line) for line in lines])
    return Notice(
        f"{printable(name)}: {plural(len(lines), 'line')} left out, of more than {most} characters: {where}",
        "long-lines",
    )
