# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of nodes, links, switches and of the machine as a whole between two sets of runs.

The log time of a pair is the sum of a time that all pairs share (the machine), and of effects of its
switches, nodes and link. Each of these parts is compared with itself, so a part is slower only if it changed
more than what it belongs to: a slower machine does not make all nodes slower, and a slower node does not make
its links slower. Nodes are identified by their names. Delays of nodes, links and the machine are compared by
their numbers (`hockney.models.node_delay_changes`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hockney.core.case import NODES, Case, Value
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive
from hockney.core.fit import Estimate
from hockney.core.record import RunRecords
from hockney.core.wording import plural
from hockney.models.comparison import (
    SIGNIFICANCE_LEVEL,
    CaseVerdict,
    DelayedShare,
    JudgedCases,
    OperationVerdict,
    Parts,
    RunOfMachine,
    more_launches,
    state_of,
)
from hockney.models.node_effects import (
    MIN_NODES_FOR_PAIRS,
    POWER,
    Effects,
    Kind,
    adjusted_p_values,
    change,
    over_runs,
)
from hockney.models.node_topology import NodeTopology, node_topology
from hockney.models.statistics import Observation, RatioEstimate, estimate
from hockney.pages.format import format_share
from hockney.studies.nodes.effects import WITHIN, NodeEffects, measure_order, measure_title
from hockney.studies.nodes.plan import BANDWIDTH
from hockney.studies.nodes.tables import DELAYS, NodeTables, natural

if TYPE_CHECKING:
    import numpy as np

    from hockney.models.node_delay_changes import DelayChanges
    from hockney.models.node_delays import DelayCounts

KINDS: tuple[Kind, ...] = ("machine", "switch", "node", "link")
"""In the order of tables."""
MACHINE = "as a whole"


def judge_parts(
    a: Sequence[RunOfMachine], b: Sequence[RunOfMachine], catalog: Catalog, tolerance: float
) -> JudgedCases:
    """Judge the machine as a whole, its switches, nodes and links by the cases that both sides measured, on
    any number of nodes. Links and delays are included only if they changed. Raises Inconclusive without a
    common case, or with too few common nodes."""
    sides_cases = [
        {_key(case) for run in side for case in NodeTables.of_run(run.run).cases} for side in (a, b)
    ]
    keys = sides_cases[0] & sides_cases[1]
    if not keys:
        raise Inconclusive(
            "A and B have no measure in common",
            "only the same messages and computations can be compared",
            "measure both with the same parameters",
            code="no-common-measure",
        )
    nodes = [_nodes(side, keys) for side in (a, b)]
    common = tuple(node for node in nodes[0] if node in nodes[1])
    if len(common) < MIN_NODES_FOR_PAIRS:
        raise Inconclusive(
            f"A and B have {plural(len(common), 'node')} in common",
            f"at least {MIN_NODES_FOR_PAIRS} nodes are compared with themselves",
            "measure B on the nodes of A, with --hosts or in a job on these nodes",
            code="too-few-common-nodes",
            nodes=len(common),
            least=MIN_NODES_FOR_PAIRS,
        )
    topology = node_topology(b[0].machine, common)
    sides = [_Side(runs, keys, topology, common) for runs in (a, b)]
    compared = _Changes(sides[0], sides[1], catalog, tolerance)
    operations = tuple(compared.operations())
    parts = Parts(
        only_a=tuple(f"node {node}" for node in nodes[0] if node not in common),
        only_b=tuple(f"node {node}" for node in nodes[1] if node not in common),
        notes=tuple(compared.notes()),
    )
    judged = tuple(case for operation in operations for case in operation.cases)
    return JudgedCases(tolerance, judged, operations, compared.tests, parts=parts)


CaseKey = tuple[str, tuple[tuple[str, Value], ...]]


def _key(case: Case) -> CaseKey:
    """What a case measures, whatever the number of nodes."""
    return case.workload, tuple(item for item in case.parameters if item[0] != NODES)


def _tables(run: RunRecords, keys: Collection[CaseKey], only: tuple[str, ...] = ()) -> NodeTables:
    cases = (case for case in NodeTables.of_run(run).cases if _key(case) in keys)
    return NodeTables(run, tuple(cases), only)


def _nodes(runs: Sequence[RunOfMachine], keys: Collection[CaseKey]) -> list[str]:
    names = {node for side in runs for node in _tables(side.run, keys).nodes}
    return sorted(names, key=natural)


@dataclass(frozen=True)
class _Side:
    """The runs of a side. All of them have the same nodes, with unknown times where a run lacks one."""

    runs: Sequence[RunOfMachine]
    keys: Collection[CaseKey]
    topology: NodeTopology
    nodes: tuple[str, ...]

    @cached_property
    def is_exact(self) -> bool:
        return all(side.machine.is_exact for side in self.runs)

    @cached_property
    def _by_run(self) -> list[NodeEffects]:
        return [NodeEffects(_tables(side.run, self.keys, self.nodes), self.topology) for side in self.runs]

    def case_of(self, measure: str) -> Case:
        """A case that a measure is from."""
        tables = (run.tables for run in self._by_run if measure in run.measures)
        return next(tables).case_of(measure)

    @cached_property
    def delay_counts(self) -> DelayCounts:
        """The delays in all launches of all runs with times of pairs."""
        from functools import reduce

        from hockney.models.node_delays import DelayCounts

        counts = [run.tables.delay_counts for run in self._by_run if DELAYS in run.measures]
        return reduce(DelayCounts.followed_by, counts)

    @property
    def pair_indices(self) -> tuple[np.ndarray, np.ndarray]:
        return self._by_run[0].pair_indices

    @cached_property
    def effects(self) -> Mapping[Kind, Mapping[str, Effects]]:
        """The effects over all launches, by kind and measure."""
        kinds: dict[Kind, dict[str, Effects]] = {}
        for kind in KINDS:
            measures = dict.fromkeys(name for run in self._by_run for name in run.by_kind[kind])
            kinds[kind] = {
                measure: over_runs(
                    [run.by_kind[kind][measure] for run in self._by_run if measure in run.by_kind[kind]],
                    is_exact=self.is_exact,
                )
                for measure in measures
            }
        return kinds


@dataclass(frozen=True)
class _Changes:
    a: _Side
    b: _Side
    catalog: Catalog
    tolerance: float

    @property
    def log_tolerance(self) -> float:
        return math.log1p(self.tolerance)

    @cached_property
    def changes(self) -> Mapping[Kind, Mapping[str, Effects]]:
        before, after = self.a.effects, self.b.effects
        return {
            kind: {
                measure: change(before[kind][measure], after[kind][measure])
                for measure in sorted(before[kind], key=measure_order)
                if measure in after[kind]
            }
            for kind in KINDS
        }

    @cached_property
    def delays(self) -> Mapping[Kind, DelayChanges]:
        """The changes of the numbers of delays; empty unless both sides measured pairs."""
        from hockney.models.node_delay_changes import delay_changes

        if DELAYS not in self.changes["node"]:
            return {}
        tests = {kind: self._kinds * len(self.changes[kind]) for kind in KINDS}
        return delay_changes(self.a.delay_counts, self.b.delay_counts, self.tolerance, tests)

    @property
    def _kinds(self) -> int:
        return sum(bool(measures) for measures in self.changes.values())

    @cached_property
    def _changed(self) -> Mapping[Kind, np.ndarray]:
        """The adjusted p-values of changes beyond the tolerance, measure by measure."""
        import numpy as np

        bound = self.log_tolerance
        return self._adjusted(
            lambda effects: np.minimum(effects.p_above(bound), effects.p_below(-bound)),
            lambda delays: delays.p_values,
        )

    @cached_property
    def _same(self) -> Mapping[Kind, np.ndarray]:
        """The adjusted p-values of changes within the tolerance; nan for delays."""
        import numpy as np

        bound = self.log_tolerance
        return self._adjusted(
            lambda effects: np.maximum(effects.p_above(-bound), effects.p_below(bound)),
            lambda delays: np.full(len(delays.p_values), np.nan),
        )

    def _adjusted(
        self,
        p_of_times: Callable[[Effects], np.ndarray],
        p_of_delays: Callable[[DelayChanges], np.ndarray],
    ) -> Mapping[Kind, np.ndarray]:
        """The adjusted p-values of a test of all changes."""
        import numpy as np

        families: dict[Kind, np.ndarray] = {}
        for kind, measures in self.changes.items():
            p_values = [np.zeros(0)]
            for measure, effects in measures.items():
                delays = self._delays(kind, measure)
                p_values.append(p_of_times(effects) if delays is None else p_of_delays(delays))
            families[kind] = np.concatenate(p_values)
        return adjusted_p_values(families)

    def _delays(self, kind: Kind, measure: str) -> DelayChanges | None:
        """The delays that a kind of parts is compared by in this measure, instead of times."""
        return self.delays.get(kind) if measure == DELAYS else None

    @cached_property
    def tests(self) -> int:
        import numpy as np

        return int(sum(np.isfinite(p).sum() for p in self._changed.values()))

    def operations(self) -> Iterator[OperationVerdict]:
        for kind in KINDS:
            by_name: dict[str, list[CaseVerdict]] = {}
            for name, verdict in self._verdicts(kind):
                by_name.setdefault(name, []).append(verdict)
            for name in sorted(by_name, key=natural):
                yield _operation(kind, name, tuple(by_name[name]))

    def _verdicts(self, kind: Kind) -> Iterator[tuple[str, CaseVerdict]]:
        names = self._names(kind)
        for k, (measure, effects) in enumerate(self.changes[kind].items()):
            first = k * len(names)
            changed, same = (p[first : first + len(names)] for p in (self._changed[kind], self._same[kind]))
            half_widths = effects.half_width()
            for place, name in enumerate(names):
                if not math.isfinite(effects.log_ratio[place]):
                    continue
                is_decided = changed[place] <= SIGNIFICANCE_LEVEL
                if (kind == "link" or measure.startswith(DELAYS)) and not is_decided:
                    continue
                ratio = _ratio(effects, half_widths, place)
                p_changed, p_same = (
                    None if math.isnan(p[place]) else float(p[place]) for p in (changed, same)
                )
                yield name, self._verdict(kind, name, measure, place, ratio, p_changed, p_same)

    def _verdict(
        self,
        kind: Kind,
        name: str,
        measure: str,
        place: int,
        ratio: RatioEstimate,
        p_changed: float | None,
        p_same: float | None,
    ) -> CaseVerdict:
        import numpy as np

        base = measure.removesuffix(WITHIN)
        case = self.b.case_of(base)
        workload = self.catalog.entry(case.workload)
        effects = [side.effects[kind][measure] for side in (self.a, self.b)]
        launches = int(effects[0].launches[place]), int(effects[1].launches[place])
        delays, shares = self._delays(kind, measure), None
        state = state_of(ratio.ratio, p_changed, p_same)
        if delays is not None:
            state = "slower" if delays.grew[place] else "faster"
            numbers = (delays.delayed[:, place].tolist(), delays.repetitions[:, place].tolist())
            first, second = (DelayedShare(*side) for side in zip(*numbers, strict=True))
            shares = first, second
        is_open = state in ("undecided", "unknown")
        no_times = np.zeros(0)
        observed = Observation(case, workload, (), no_times, no_times, no_times, no_times)
        before, after = (
            self._time(side, kind, base, part, place)
            for side, part in zip((self.a, self.b), effects, strict=True)
        )
        return CaseVerdict(
            case=case,
            workload=workload,
            level=name,
            part=f"{measure_title(measure)} of {'the machine' if kind == 'machine' else name}",
            a=before,
            b=after,
            launches=launches,
            ratio=ratio.ratio,
            p_changed=p_changed,
            p_same=p_same,
            state=state,
            more_launches=more_launches(ratio.ratio, self.tolerance, launches, 1) if is_open else None,
            observed=(observed, observed),
            delays=shares,
        )

    def _time(self, side: _Side, kind: Kind, measure: str, effects: Effects, place: int) -> Estimate:
        """The time that the part would have on a machine where all other parts are as the median."""
        typical = 0.0
        if kind != "machine":
            machine = side.effects["machine"]
            typical = float(machine[measure if measure in machine else BANDWIDTH].log_ratio[0])
        center, width = typical + float(effects.log_ratio[place]), float(effects.half_width()[place])
        low, high = (math.exp(center + sign * width) for sign in (-1, 1))
        return estimate(math.exp(center), low, high)

    def _names(self, kind: Kind) -> Sequence[str]:
        nodes = self.a.nodes
        if kind == "machine":
            return (MACHINE,)
        if kind == "switch":
            return self.a.topology.names
        if kind == "node":
            return nodes
        return [f"{nodes[i]} - {nodes[j]}" for i, j in zip(*self.a.pair_indices, strict=True)]

    def notes(self) -> Iterator[str]:
        import numpy as np

        limits = []
        for kind in ("node", "link"):
            measures = [e for measure, e in self.changes[kind].items() if measure != DELAYS]
            values = [np.median(self._detectable(kind, effects)) for effects in measures]
            limits.append(max(values, default=math.nan))
        node, link = limits
        if math.isfinite(node):
            text = f"95% of such checks would report a node that takes {math.exp(node):.2f} times as long"
            if math.isfinite(link):
                text += f", or a link that takes {math.exp(link):.2f} times as long"
            yield f"{text}."
        if self.delays and all(math.isfinite(self.delays[kind].detectable) for kind in ("node", "link")):
            node_share, link_share = (self.delays[kind].detectable for kind in ("node", "link"))
            yield (
                f"95% of such checks would report a node that newly delays {format_share(node_share)} of its "
                f"messages, or a link that newly delays {format_share(link_share)}."
            )

    def _detectable(self, kind: Kind, effects: Effects) -> np.ndarray:
        """The smallest log changes that are reported with a probability of `POWER`."""
        tests = self._kinds * len(self.changes[kind]) * len(effects.log_ratio)
        beyond = effects.half_width(1 - SIGNIFICANCE_LEVEL / (2 * max(1, tests))) + effects.half_width(POWER)
        return self.log_tolerance + beyond


def _ratio(effects: Effects, half_widths: np.ndarray, place: int) -> RatioEstimate:
    log, width = float(effects.log_ratio[place]), float(half_widths[place])
    is_exact = effects.standard_error[place] == 0
    return RatioEstimate.from_log_ratio(log, log, width, width, float(effects.freedom[place]), exact=is_exact)


def _operation(kind: Kind, name: str, cases: tuple[CaseVerdict, ...]) -> OperationVerdict:
    """All measures of one part. Its ratio is their geometric mean; the interval assumes that their errors
    have the same sign."""
    logs = [math.log(case.ratio.value) for case in cases]
    known = [(case.ratio.low, case.ratio.high) for case in cases if case.ratio.low and case.ratio.high]
    mean, bounds = math.exp(sum(logs) / len(logs)), (math.nan, math.nan)
    if len(known) == len(cases):
        low, high = (math.exp(sum(map(math.log, side)) / len(side)) for side in zip(*known, strict=True))
        bounds = low, high
    states = [case.state for case in cases]
    state = next(s for s in ("slower", "undecided", "unknown", "faster", "same") if s in states)
    p_values = [[p for p in column if p is not None] for column in _p_columns(cases)]
    return OperationVerdict(
        workload=kind,
        level=name,
        cases=cases,
        ratio=estimate(mean, *bounds),
        p_changed=min(p_values[0], default=None),
        p_same=max(p_values[1], default=None),
        mean_state=state,
        state=state,
    )


def _p_columns(cases: Sequence[CaseVerdict]) -> tuple[list[float | None], list[float | None]]:
    return [case.p_changed for case in cases], [case.p_same for case in cases]
