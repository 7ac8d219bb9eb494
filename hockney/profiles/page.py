# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a profile: the headline and the time in MPI, then the efficiencies, the machine's prices, the
ranks, who waits for whom, what is exchanged, and the cost of recording."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hockney.core.units import format_bytes, format_percent
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section
from hockney.mpi import family_called
from hockney.pages.format import quantity
from hockney.profiles import columns
from hockney.profiles.explanation import PART_NAMES, Explanation, Point, Row
from hockney.profiles.machine_costs import PREDICTED, MachineCosts, Price
from hockney.profiles.operations import KIND_NAMES, Kind, kind_of
from hockney.profiles.profile import group_rows
from hockney.profiles.rank_file import DISTANCES
from hockney.profiles.results import ProfileResults

MAX_BARS = 14
MIN_BAR_SHARE = 0.01
"""Call sites with a smaller share of the time in MPI have no bar."""
MIN_VISIBLE_SHARE = 0.003
"""Parts that are a smaller share of the longest bar everywhere are left out."""
MAX_RANK_BARS = 32
MAX_CELLS = 32
"""Rows of the map of ranks; of more ranks, several share a row."""
COLOURS: Mapping[str, int] = {
    "software": 0, "transfer": 5, "late_sender": 1, "late_receiver": 4, "collective": 3, "contention": 7,
    "excess": 2, "not_separated": 6,
}  # fmt: skip
"""The colour of each part in all figures, as a place in the palette."""
MACHINE, WAITING, COMPUTATION = COLOURS["software"], COLOURS["late_sender"], COLOURS["contention"]
"""The colours of grouped parts, and of computation, which is never next to contention alone."""
DECADES = (1, 4, 5, 6)
"""The colours of a map from most to least: red, yellow, blue, grey."""
TIME = Axis("time", "s", "linear", include=(0.0,))
CALL_TIME = Axis("time of a call", "s")
MAX_PRICE_FIGURES = 4
CURVE_POINTS = 40
PREDICTED_POINTS = 5

METHOD = (
    "A library that is loaded with the program records each rank's MPI calls: number, bytes, and time by "
    "call site, function, communicator, size class and distance. A call within another one counts once.",
    "Messages and collectives are numbered in their channel, and all ranks time the same ones individually: "
    "all of the first 64, then about 32 of each doubling. Waiting is computed from these as Scalasca defines "
    "it, and estimated for all calls.",
    "The machine's price of a call is what the survey measured for this size, level and number of ranks. "
    "Excess is the time beyond waiting and beyond the time below which 95% of the survey's repetitions are. "
    "The survey repeats calls back to back; after computation, with other data in the caches, a call takes "
    "some microseconds longer.",
    "Parts that recording may have caused are withheld: those smaller than the cost of recording the calls.",
    "Efficiencies are those of the POP Centre of Excellence.",
)


def page(results: ProfileResults) -> Page:
    profile, launch = results.profile, results.launch
    regions = columns.regions_table(results)
    sections = [
        Section("Efficiencies", tables=(columns.metrics_table(results), columns.parts_table(results))),
        Section("Call sites", tables=(columns.sites_table(results, 30, without=("mean size",)),))
        if results.explanation.rows
        else None,
        _prices(results),
        _waiting(results),
        _section("Ranks", rank_times(results), rank_matrix(results)),
        _section("Messages", message_sizes(results)),
        Section("Regions", tables=(regions,)) if regions else None,
        _recording(results),
        _tables(results),
    ]
    return Page(
        title=f"Profile of {profile.manifest.program}",
        subtitle=", ".join(filter(None, (launch.ranks[0].hostname, _mpi(results), profile.manifest.started))),
        headline=results.headline,
        warnings=results.caveats,
        sections=tuple(section for section in sections if section is not None),
        environment=tuple(_environment(results)),
        method=METHOD,
        lead=call_site_parts(results),
        results=columns.brief_sites_table(results) if results.explanation.rows else None,
    )


def _section(title: str, *figures: Figure | None) -> Section | None:
    drawn = tuple(figure for figure in figures if figure is not None)
    return Section(title, figures=drawn) if drawn else None


def _mpi(results: ProfileResults) -> str:
    mpi = results.profile.manifest.mpi
    family = family_called(mpi.family)
    return f"{family.title if family else mpi.family} {mpi.version}".strip()


def _environment(results: ProfileResults) -> Iterator[tuple[str, str]]:
    profile, launch = results.profile, results.launch
    yield "command", " ".join(profile.manifest.command)
    yield "started", profile.manifest.started
    yield "MPI", _mpi(results)
    yield "ranks", f"{len(launch.ranks)} on {plural(launch.hosts, 'host')}, {profile.cores} usable cores each"
    yield "launches", str(len(profile.launches))
    yield "survey", results.costs.where if results.costs else "none"
    yield "hockney", profile.manifest.hockney


def _stacked(parts: Mapping[tuple[str, int], Sequence[float]]) -> tuple[Series, ...]:
    """Stacked bars of all visible parts, a row for each of their values. Keys are names and colours."""
    longest = max(map(sum, zip(*parts.values(), strict=True)), default=0.0)
    count = len(next(iter(parts.values())))
    rows = tuple(map(float, range(count)))
    base = [0.0] * count
    series = []
    for (name, slot), values in parts.items():
        if any(value > MIN_VISIBLE_SHARE * longest for value in values):
            series.append(
                Series(
                    name,
                    rows,
                    tuple(values),
                    kind="bars",
                    base=tuple(base),
                    slot=slot,
                    detail=tuple(str(quantity(value, "s")) for value in values),
                )
            )
        base = [start + value for start, value in zip(base, values, strict=True)]
    return tuple(series)


def bar_name(explanation: Explanation, row: Row) -> str:
    """ "Allreduce, solver.c:120"."""
    return f"{row.name}, {columns.end_of_place(explanation.site(row).place)}"


def call_site_parts(results: ProfileResults) -> Figure | None:
    """A bar for each of the longest call sites."""
    explanation = results.explanation
    if not explanation.rows:
        return None
    least = MIN_BAR_SHARE * results.total.total
    rows = [row for row in explanation.rows if row.seconds >= least][:MAX_BARS] or explanation.rows[:1]
    left_out = len(explanation.rows) - len(rows)
    return Figure(
        "profile-call-sites",
        "Time in MPI by call site",
        Axis("call site", "", "linear", names=tuple(bar_name(explanation, row) for row in rows)),
        replace(TIME, label="time of all ranks"),
        _stacked(
            {
                (name, COLOURS[key]): [getattr(row.parts, key) for row in rows]
                for key, name in PART_NAMES.items()
            }
        ),
        f"Without {plural(left_out, 'shorter one')}." if left_out else "",
    )


def _prices(results: ProfileResults) -> Section | None:
    costs = results.costs
    if costs is None:
        return None
    figures = [*_message_prices(results, costs), *_collective_prices(results, costs)]
    if not figures:
        return None
    text = (
        "Points are mean times of the calls at a call site, without waiting. The line is the survey's price, "
        "the band reaches up to the time below which 95% of its repetitions are. A send may take less than "
        "the price, since it returns when its buffer may be used again.",
    )
    return Section("The machine's price", text, figures=tuple(figures), multiples=len(figures) > 1)


def _drawn_points(results: ProfileResults, points: Sequence[Point]) -> Iterator[Series]:
    for kind in dict.fromkeys(p.kind for p in points):
        of_kind = [p for p in points if p.kind == kind]
        yield Series(
            KIND_NAMES[kind],
            tuple(p.size for p in of_kind),
            tuple(max(p.seconds, 1e-10) for p in of_kind),
            detail=tuple(
                f"MPI_{p.name} at {results.launch.sites[p.site].place}, {plural(p.calls, 'call')}, "
                f"price {quantity(p.price.value, 's')}"
                for p in of_kind
            ),
        )


def _curve(sizes: Sequence[float], points: int = CURVE_POINTS) -> list[float]:
    """Sizes for a curve from the smallest to the largest point."""
    positive = [size for size in sizes if size > 0]
    low, high = max(1.0, min(positive, default=1.0) / 2), max(positive, default=8.0) * 2
    steps = np.geomspace(low, high, points).tolist()
    return [*([0.0] if min(sizes) == 0 else []), *steps]


MESSAGES = {"network": "Messages between nodes", "self": "Messages of a rank to itself"}


def _price_figure(
    results: ProfileResults, name: str, title: str, size: str, points: Sequence[Point], price: Series
) -> Figure:
    return Figure(
        f"profile-price-{name}",
        title,
        Axis(size, "B", zero=True),
        CALL_TIME,
        (price, *_drawn_points(results, points)),
    )


def _price_curve(name: str, line: Sequence[tuple[float, Price | None]]) -> Series:
    """The known prices of calls by size, with the upper bounds of their bands."""
    known = [(size, price) for size, price in line if price is not None]
    values = tuple(price.value for _, price in known)
    highs = tuple(price.high for _, price in known)
    return Series(name, tuple(size for size, _ in known), values, values, highs, kind="line")


def _message_prices(results: ProfileResults, costs: MachineCosts) -> Iterator[Figure]:
    points = [p for p in results.explanation.points if p.kind in ("send", "receive", "exchange")]
    for level in dict.fromkeys(costs.level_of(p.distance) for p in points):
        chosen = [p for p in points if costs.level_of(p.distance) == level]
        if level is None:
            continue
        line = [(size, costs.message(size, chosen[0].distance)) for size in _curve([p.size for p in chosen])]
        curve = _price_curve("price of a message", line)
        distance = DISTANCES[chosen[0].distance] or "a node"
        title = MESSAGES.get(distance, f"Messages within a {distance}")
        yield _price_figure(results, level or "messages", title, "message size", chosen, curve)


def _collective_prices(results: ProfileResults, costs: MachineCosts) -> Iterator[Figure]:
    points = [p for p in results.explanation.points if p.kind == "collective"]
    weights: dict[tuple[str, int], float] = {}
    for p in points:
        key = p.name, p.ranks
        weights[key] = weights.get(key, 0.0) + p.calls * p.seconds
    longest = sorted(weights, key=lambda key: -weights[key])[:MAX_PRICE_FIGURES]
    for name, ranks in longest:
        chosen = [p for p in points if (p.name, p.ranks) == (name, ranks)]
        if not any(p.size for p in chosen):
            yield _prices_without_size(results, name, chosen)
            continue
        predicted = any(p.price.basis == PREDICTED for p in chosen)  # each takes a simulation
        sizes = _curve([p.size for p in chosen], PREDICTED_POINTS if predicted else CURVE_POINTS)
        line = [(size, costs.collective(name, ranks, size)) for size in sizes]
        title, curve = f"MPI_{name}, {plural(ranks, 'rank')}", _price_curve("price", line)
        yield _price_figure(results, f"{name}-{ranks}", title, "bytes of a rank", chosen, curve)


def _prices_without_size(results: ProfileResults, name: str, points: Sequence[Point]) -> Figure:
    """The prices of calls that move no bytes, such as MPI_Barrier, with a row for each call site."""
    chosen = sorted(points, key=lambda p: -p.calls * p.seconds)[:MAX_BARS]
    rows = tuple(map(float, range(len(chosen))))
    values = tuple(p.price.value for p in chosen)
    price = Series("price", rows, values, values, tuple(p.price.high for p in chosen))
    measured = Series(
        KIND_NAMES[chosen[0].kind],
        rows,
        tuple(max(p.seconds, 1e-10) for p in chosen),
        detail=tuple(plural(p.calls, "call") for p in chosen),
    )
    return Figure(
        f"profile-price-{name}-{chosen[0].ranks}",
        f"MPI_{name}, {plural(chosen[0].ranks, 'rank')}",
        Axis(
            "call site",
            "",
            "linear",
            names=tuple(columns.end_of_place(results.launch.sites[p.site].place) for p in chosen),
        ),
        CALL_TIME,
        (price, measured),
    )


def _waiting(results: ProfileResults) -> Section | None:
    table = columns.causes_table(results, 30, brief=True)
    if table is None:
        return None
    return Section("Waiting", tables=(table,), figures=tuple(filter(None, (waiting_times(results),))))


def waiting_times(results: ProfileResults) -> Figure | None:
    """How long each rank waits, and how long others wait for it."""
    launch, waits = results.launch, results.explanation.waits
    count = len(launch.ranks)
    if count < 2 or not waits.total_s:
        return None
    x = tuple(map(float, range(count)))
    series = (
        Series("waits", x, tuple(map(float, waits.of_ranks(count)))),
        Series("others wait for it", x, tuple(map(float, waits.caused_by(count))), tone="warning"),
    )
    return Figure(
        "profile-waiting",
        "Waiting of each rank",
        _rank_axis(results),
        TIME,
        series,
        "A rank for which others wait is late: it computes longer, or waits itself.",
    )


def _rank_axis(results: ProfileResults) -> Axis:
    """The axis of ranks, with a row for each one unless there are many."""
    ranks = results.launch.ranks
    if len(ranks) > MAX_RANK_BARS:
        return Axis("rank", "", "linear", include=(0.0, len(ranks) - 1.0), whole=True)
    return Axis("rank", "", "linear", names=tuple(f"rank {rank.label}" for rank in ranks))


def rank_times(results: ProfileResults) -> Figure | None:
    """The computation and the parts of the time in MPI of each rank."""
    ranks, parts = results.launch.ranks, results.explanation.rank_parts
    computation = [rank.outside_s for rank in ranks]
    if len(parts) <= MAX_RANK_BARS:
        of_machine = ("software", "transfer", "contention")
        series = _stacked(
            {
                ("computation", COMPUTATION): computation,
                ("MPI: machine", MACHINE): [each.machine for each in parts],
                **{
                    (f"MPI: {name}", COLOURS[key]): [getattr(each, key) for each in parts]
                    for key, name in PART_NAMES.items()
                    if key not in of_machine
                },
            }
        )
    else:
        x = tuple(map(float, range(len(parts))))
        lines = {
            ("computation", COMPUTATION): computation,
            ("in MPI", MACHINE): [rank.in_mpi_s for rank in ranks],
            ("of it waiting", WAITING): [each.waiting for each in parts],
        }
        series = tuple(Series(name, x, tuple(values), slot=slot) for (name, slot), values in lines.items())
    return Figure("profile-ranks", "Time of each rank", _rank_axis(results), TIME, series)


def rank_matrix(results: ProfileResults) -> Figure | None:
    """The bytes from each rank to each other rank: a map with a cell for each pair, coloured by decade."""
    sent = results.launch.sent
    labels = [rank.label for rank in results.launch.ranks]
    count = len(sent)
    if count < 3 or not sent.any():
        return None
    step = -(-count // MAX_CELLS)
    cells = math.ceil(count / step)
    summed = np.zeros((cells, cells))
    rows, across = np.nonzero(sent)
    np.add.at(summed, (rows // step, across // step), sent[rows, across])
    most = math.floor(math.log10(summed.max()))
    names, gap = [], 0.04 * step
    for k in range(cells):
        first, last = labels[k * step], labels[min(count, (k + 1) * step) - 1]
        names.append(f"rank {first}" if first == last else f"ranks {first} to {last}")
    series = []
    for k, slot in enumerate(DECADES):
        low, high = 10.0 ** (most - k), 10.0 ** (most - k + 1)
        least = k == len(DECADES) - 1
        i, j = np.nonzero((summed >= (0 if least else low)) & (summed < high) & (summed > 0))
        if len(i):
            series.append(
                Series(
                    f"less than {_decimal(high)}" if least else f"{_decimal(low)} to {_decimal(high)}",
                    tuple(map(float, i)),
                    (step - 2 * gap,) * len(i),
                    kind="bars",
                    base=tuple(float(c) * step - 0.5 + gap for c in j),
                    cells=True,
                    slot=slot,
                    detail=tuple(
                        f"{format_bytes(float(v))} to {names[c]}"
                        for v, c in zip(summed[i, j], j.tolist(), strict=True)
                    ),
                )
            )
    shared = f" Each cell stands for {step} ranks." if step > 1 else ""
    return Figure(
        "profile-matrix",
        "Bytes between ranks",
        Axis("from rank", "", "linear", names=tuple(names)),
        Axis("to rank", "", "linear", include=(-0.5, count - 0.5), whole=True),
        tuple(series),
        f"Of messages between two ranks and one-sided communication, without collectives.{shared}",
    )


def _decimal(value: float) -> str:
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"


_SIZES: Mapping[str, tuple[Kind, ...]] = {
    "messages": ("send", "start", "exchange"),
    "collectives": ("collective", "start collective", "neighbors"),
    "one-sided": ("one-sided",),
}


def message_sizes(results: ProfileResults) -> Figure | None:
    """The number of calls of each size class."""
    launch = results.launch
    sums: dict[str, dict[int, int]] = {}
    for (function, size_class), rows in group_rows(launch.counted, "function", "size_class"):
        name = launch.function(function)
        kind = kind_of(name)
        group = next((each for each, kinds in _SIZES.items() if kind in kinds), "")
        receives = name.startswith(("Irecv", "Imrecv"))
        if group and size_class and not receives:
            of_group = sums.setdefault(group, {})
            of_group[size_class] = of_group.get(size_class, 0) + int(rows["calls"].sum())
    if not sums:
        return None
    series = []
    for group, classes in sums.items():
        ordered = sorted(classes)
        series.append(
            Series(
                group,
                tuple(0.0 if k == 1 else 2.0 ** (k - 2) for k in ordered),
                tuple(float(classes[k]) for k in ordered),
                detail=tuple(columns.size_class_text(k) for k in ordered),
                slot=list(_SIZES).index(group),
            )
        )
    return Figure(
        "profile-sizes",
        "Sizes of messages",
        Axis("size", "B", zero=True),
        Axis("calls", "calls", include=(1.0,)),
        tuple(series),
        "Calls of all ranks by size, in classes of a factor of 2, which are drawn at their smallest size. "
        "Receives are left out.",
    )


def _recording(results: ProfileResults) -> Section:
    table = columns.recording_table(results)
    total = results.explanation.total.total
    recording = results.explanation.recording_s
    text = [
        "What recording cost is not known: no rank reached the end of its program, where this is measured."
        if math.isnan(recording)
        else f"Recording cost {quantity(recording, 's')} altogether (calls times cost), next to "
        f"{quantity(total, 's')} in MPI: {format_percent(results.recording_share, 2)} of the time of all "
        "ranks."
    ]
    if results.overhead is not None:
        ratio = results.overhead
        bounds = (
            "" if ratio.low is None or ratio.high is None else f" (95%: {ratio.low:.3f} to {ratio.high:.3f})"
        )
        text.append(f"The whole program took {ratio.value:.3f} times as long with recording{bounds}.")
    return Section("Cost of recording", tuple(text), tables=(table,) if table else ())


def _tables(results: ProfileResults) -> Section:
    tables = [
        columns.sites_table(results, 500, 0.0, paths=True),
        columns.groups_table(results),
        columns.ranks_table(results),
    ]
    return Section("All numbers", tables=tuple(table for table in tables if table.rows), closed=True)
