# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Creates runs from logs: one for each suite and version.

Each invocation of a benchmark is a launch (one for each of its rank counts), so several logs of one benchmark
give several launches. A log that is given twice counts once.
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
from hockney.core.settings import MAX_LAUNCHES
from hockney.core.wording import list_names, plural
from hockney.imports.conversion import ConvertedRow, OmittedRow, convert_rows, in_place_row
from hockney.imports.formats import LogFile, all_formats
from hockney.imports.log import MAX_LINE_LENGTH, MAX_RANKS, Invocation, LogTable, Row
from hockney.reference.peers import Benchmark, BenchmarkGroup, benchmark_named
from hockney.system.bundled import bundled_catalog, catalog_with

UNKNOWN_MACHINE = "unknown machine"
GPU_NOTE = "The buffers were in the memory of GPUs; those of hockney are in the memory of hosts."
UNSAFE_CHARACTERS = re.compile(r"[^\w.+-]")
"""Characters that must not be part of a folder's name."""
MAX_VERSION_LENGTH = 60


@dataclass(frozen=True)
class ImportedRun:
    """A run created from logs. Its `name` contains the suite and its version; `notices` state what was
    omitted."""

    name: str
    machine: Machine
    run: RunRecords
    catalog: Catalog
    notices: tuple[Notice, ...]


@dataclass
class _VersionLogs:
    """The logs of one version of a suite. `launches` contain the converted rows of each invocation."""

    suite: str
    version: str
    files: dict[str, None] = field(default_factory=dict)
    launches: list[tuple[Invocation, float, list[ConvertedRow]]] = field(default_factory=list)
    omitted_counts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    benchmarks_with_given_ranks: dict[str, None] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{all_formats()[self.suite].TITLE} {self.version}".strip()


def assemble(
    files: Sequence[LogFile], *, ranks: int | None = None, machine: str = "", same_buffers: bool = False
) -> list[ImportedRun]:
    """Create the runs of these files. `ranks` is the rank count of logs that do not contain it, `machine` the
    machine's name for users. `same_buffers` selects nccl-tests' in-place columns.

    Raises UsageError if no file contains a known format or if a rank count is unknown, and Inconclusive if no
    number corresponds to a case.
    """
    if not any(file.logs for file in files):
        raise _no_logs_error(
            [file.name for file in files], [log_format.TITLE for log_format in all_formats().values()]
        )
    _check_ranks_known(files, ranks)
    catalog = _catalog(files)
    groups: dict[tuple[str, str], _VersionLogs] = {}
    general_notices: list[Notice] = []
    for file in files:
        for suite, log in file.logs.items():
            for index, invocation in enumerate(log.invocations):
                tables = [table for table in log.tables if table.invocation == index]
                if tables:
                    group = groups.setdefault(
                        (suite, invocation.version), _VersionLogs(suite, invocation.version)
                    )
                    _add_invocation(group, file, invocation, tables, ranks, same_buffers, catalog)
        general_notices += _file_notices(file)
    runs = [_make_run(group, machine, ranks, catalog) for group in groups.values() if group.launches]
    if not runs:
        reasons = [reason for group in groups.values() for *_, reason in group.omitted_counts]
        raise _nothing_imported_error([file.name for file in files], list(dict.fromkeys(reasons)))
    general_notices += [
        notice for group in groups.values() if not group.launches for notice in _group_notices(group)
    ]
    runs = [
        replace(run, name=name)
        for run, name in zip(runs, _unique_names([candidate.name for candidate in runs]), strict=True)
    ]
    return [replace(runs[0], notices=(*runs[0].notices, *general_notices)), *runs[1:]]


def _unique_names(names: Sequence[str]) -> list[str]:
    """Number repeated names. Names that differ only in case count as repeated, because some file systems
    ignore case."""
    names_by_lower: dict[str, str] = {}
    for name in names:
        candidate, count = name, 1
        while candidate.lower() in names_by_lower:
            count += 1
            candidate = f"{name}-{count}"
        names_by_lower[candidate.lower()] = candidate
    return list(names_by_lower.values())


def _file_notices(file: LogFile) -> Iterator[Notice]:
    """Yield notices about the parts of the file that were not understood."""
    if not file.logs:
        yield Notice(f"{printable(file.name)}: no benchmark's output in it", "nothing-known-in-log")
    for log in file.logs.values():
        if log.bad_lines:
            yield _bad_lines_notice(
                file.name, [bad_line.line for bad_line in log.bad_lines], log.bad_lines[0].text
            )
    if file.long_lines:
        yield _long_lines_notice(file.name, file.long_lines, MAX_LINE_LENGTH)
    if file.cut_line:
        yield Notice(
            f"{printable(file.name)}: line {file.cut_line}, the last one, is left out: it has no end and "
            "may be "
            "cut off",
            "log-cut-off",
        )


def _find_benchmark(table: LogTable) -> tuple[Benchmark, BenchmarkGroup] | None:
    """Return the benchmark of a table whose numbers can belong to a case, otherwise None."""
    pair = benchmark_named(table.benchmark)
    return None if pair is None or table.unusable or not pair[0].case else pair


def _check_ranks_known(files: Iterable[LogFile], ranks: int | None) -> None:
    """Raise UsageError if a rank count is unknown."""
    unknown_tables = [
        (table.benchmark, file.name)
        for file in files
        for log in file.logs.values()
        for table in log.tables
        if table.rows and (pair := _find_benchmark(table)) and _find_ranks(table, pair[0], ranks) is None
    ]
    if unknown_tables:
        benchmarks, names = (list(dict.fromkeys(column)) for column in zip(*unknown_tables, strict=True))
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


def _find_ranks(table: LogTable, benchmark: Benchmark, given_ranks: int | None) -> int | None:
    """Return the number of ranks in the benchmark's case, or else in the table, or else as given by the
    user."""
    for word in benchmark.case.split():
        if word.startswith("ranks="):
            return int(word.removeprefix("ranks="))
    return table.ranks or given_ranks


def _catalog(files: Iterable[LogFile]) -> Catalog:
    tables = [table for file in files for log in file.logs.values() for table in log.tables]
    benchmarks = [pair[0] for table in tables if (pair := _find_benchmark(table))]
    return catalog_with(bundled_catalog(), {benchmark.case.split()[0] for benchmark in benchmarks})


def _add_invocation(
    group: _VersionLogs,
    file: LogFile,
    invocation: Invocation,
    tables: Sequence[LogTable],
    given_ranks: int | None,
    same_buffers: bool,
    catalog: Catalog,
) -> None:
    """Add the tables of one invocation as a launch for each rank count, and further launches if a case occurs
    more than once."""
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
    launches: dict[tuple[int, int], list[ConvertedRow]] = {}
    case_counts: dict[str, int] = {}
    for table in tables:
        for converted in _convert_rows(group, file, table, given_ranks, same_buffers, catalog):
            case_counts[converted.case.line] = case_counts.get(converted.case.line, 0) + 1
            launches.setdefault((converted.case.ranks, case_counts[converted.case.line]), []).append(
                converted
            )
    if len(group.launches) + len(launches) > MAX_LAUNCHES:
        count = len(group.launches) + len(launches)
        raise UsageError(
            f"a case of {printable(group.title)} is there {count} times",
            f"each time is a launch, and a run has at most {MAX_LAUNCHES}",
            "import fewer logs, or some of them at a time",
            code="log-too-many-launches",
            count=count,
            most=MAX_LAUNCHES,
        )
    if launches and invocation.gpu:
        group.notes[GPU_NOTE] = None
    if launches and same_buffers and group.suite == "nccl":
        group.notes["The times are those with the same buffer for input and output (in-place)."] = None
    group.launches += [(invocation, started_s, converted) for converted in launches.values()]


def _convert_rows(
    group: _VersionLogs,
    file: LogFile,
    table: LogTable,
    given_ranks: int | None,
    same_buffers: bool,
    catalog: Catalog,
) -> list[ConvertedRow]:
    """Convert the rows that correspond to cases, and count the others as omitted."""
    pair = _find_benchmark(table)
    if pair is None or not table.rows:
        named_pair = benchmark_named(table.benchmark)
        reason = table.unusable or (
            named_pair[0].reason if named_pair else "hockney does not know this benchmark"
        )
        reason = reason if pair is None else "the table has no rows"
        _omit(group, file, table, reason, max(1, len(table.rows)))
        return []
    benchmark, definitions = pair
    ranks = _find_ranks(table, benchmark, given_ranks) or 0
    if ranks > MAX_RANKS:
        reason = f"it ran on {ranks} ranks, and hockney imports launches of at most {MAX_RANKS}"
        _omit(group, file, table, reason, len(table.rows))
        return []
    if table.ranks is None and "ranks=" not in benchmark.case:
        group.benchmarks_with_given_ranks[benchmark.name] = None
    rows: list[Row] = list(table.rows)
    if same_buffers and table.suite == "nccl":
        in_place_rows = [in_place_row(row) for row in rows]
        _omit(group, file, table, "it has no time for the same buffers", in_place_rows.count(None))
        rows = [row for row in in_place_rows if row is not None]
    selected = LogTable(table.suite, table.benchmark, table.line, tuple(rows), parameters=table.parameters)
    converted = []
    for result in convert_rows(selected, benchmark, ranks, catalog):
        if isinstance(result, OmittedRow):
            _omit(group, file, table, result.reason, 1)
        else:
            converted.append(result)
    if converted:
        group.notes[f"{definitions.title}: {definitions.defined}"] = None
        if benchmark.differs:
            group.notes[f"{benchmark.name} became {benchmark.case}: {benchmark.differs}."] = None
    return converted


def _omit(group: _VersionLogs, file: LogFile, table: LogTable, reason: str, count: int) -> None:
    if count:
        key = file.name, table.benchmark, reason
        group.omitted_counts[key] = group.omitted_counts.get(key, 0) + count


def _group_notices(group: _VersionLogs) -> list[Notice]:
    omission_notices = [
        Notice(
            f"{printable(file_name)}: {plural(count, 'number')} of {printable(benchmark)} not imported: "
            f"{reason}.",
            "not-imported",
        )
        for (file_name, benchmark, reason), count in group.omitted_counts.items()
    ]
    return [*omission_notices, *group.notices]


def _make_run(group: _VersionLogs, machine: str, given_ranks: int | None, catalog: Catalog) -> ImportedRun:
    group.launches.sort(key=lambda item: item[1])
    hosts = list(dict.fromkeys(host for invocation, *_ in group.launches for host in invocation.hosts))
    systems = {invocation.system for invocation, *_ in group.launches}
    name = machine or _hosts_text(hosts) or UNKNOWN_MACHINE
    launches, records = [], []
    for index, (invocation, started_s, converted) in enumerate(group.launches):
        launches.append(_make_launch(group, index, invocation, started_s, converted[0].case.ranks, name))
        records += [
            _make_record(item, launches[-1], position, catalog) for position, item in enumerate(converted)
        ]
    notices = tuple(_group_notices(group))
    ranks_note = (
        f"The number of ranks, {given_ranks}, was given at the import, for "
        f"{list_names(list(group.benchmarks_with_given_ranks))}."
    )
    notes = [
        f"Each number is one mean as {group.title} printed it; each time that the benchmark was run is a "
        "launch. Repetitions, their distribution and warm-up are unknown, and nothing was verified by "
        "hockney.",
        *group.notes,
        *([ranks_note] if given_ranks and group.benchmarks_with_given_ranks else []),
        *(notice.text for notice in notices),
    ]
    most_ranks = max(len(launch.ranks) for launch in launches)
    machine_description = Machine(
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
    version = UNSAFE_CHARACTERS.sub("_", group.version)[:MAX_VERSION_LENGTH].rstrip("_")
    run_name = f"{group.suite}-{version}" if version else group.suite
    return ImportedRun(
        run_name, machine_description, RunRecords(tuple(launches), tuple(records)), catalog, notices
    )


def _hosts_text(names: Sequence[str]) -> str:
    """Return the first host and the number of other hosts; "" if `names` is empty."""
    if len(names) < 2:
        return "".join(names)
    return f"{names[0]} and {plural(len(names) - 1, 'other host')}"


def _make_launch(
    group: _VersionLogs, index: int, invocation: Invocation, started_s: float, ranks: int, machine: str
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


def _make_record(converted: ConvertedRow, launch: Launch, position: int, catalog: Catalog) -> Record:
    return Record(
        schema=SCHEMA,
        launch=launch.launch,
        origin=IMPORTED_TRAITS.origin,
        position=position,
        case=converted.case.line,
        started_s=launch.started_s,
        times_s=[converted.seconds],
        batch=converted.repetitions,
        warmup_s=[],
        bytes_moved=converted.bytes_moved,
        sync=msgspec.convert({"kind": converted.case.get("sync", "none")}, Sync),
        stop=Stop(reason="repetitions", precision=0.0, achieved=None),
        verified=Verified(
            bytes=0, errors=converted.errors, first="reported by the benchmark" if converted.errors else ""
        ),
        metrics=dict(converted.metrics),
    )


def _no_logs_error(files: Sequence[str], formats: Sequence[str]) -> UsageError:
    return UsageError(
        f"no benchmark's output in {list_names([printable(name) for name in files])}",
        f"hockney reads the output of {list_names(formats, len(formats))}",
        "name files that contain their tables as they were printed",
        code="no-benchmark-output",
        files=tuple(files),
    )


def _nothing_imported_error(files: Sequence[str], reasons: Sequence[str]) -> Inconclusive:
    return Inconclusive(
        f"no number of {list_names([printable(name) for name in files])} corresponds to a case",
        list_names(reasons),
        "see docs/reference/peers.md for the benchmarks that do",
        code="nothing-imported",
        reasons=tuple(reasons),
    )


def _bad_lines_notice(name: str, lines: Sequence[int], first: str) -> Notice:
    """Return a notice about lines inside tables that are not rows."""
    line_list = list_names([str(line) for line in lines])
    return Notice(
        f"{printable(name)}: {plural(len(lines), 'line')} in tables left out, as they are incomplete or "
        f"garbled (line {line_list}, '{printable(first)}')",
        "garbled-lines",
    )


def _long_lines_notice(name: str, lines: Sequence[int], max_characters: int) -> Notice:
    line_list = list_names([str(line) for line in lines])
    return Notice(
        f"{printable(name)}: {plural(len(lines), 'line')} left out, of more than {max_characters} "
        f"characters: {line_list}",
        "long-lines",
    )
