# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The four kernels of Juurlink (1998) on the Paragon's meshes, figures 6 to 9: which model is wrong where.

Programs in BSP put words, those in BPRAM send blocks, as in the paper. Keys and elements have 4 bytes. The
paper prints few of its numbers; its statements are checked. Local work takes the time of the description's
speed, which is a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from hockney.core.case import Case
from hockney.core.platform import Platform
from hockney.core.record import Record
from hockney.core.units import PERCENT
from hockney.draw.figure import Axis, Figure
from hockney.reproductions import pages
from hockney.reproductions.compared import CLOSE, NOT_SIMULATED, Check, Compared, Statement, Status
from hockney.reproductions.parts import Answer
from hockney.suites.bsp.models.costs import Base, CostModel, predict, relative_error, repaired
from hockney.suites.bsp.models.parameters import (
    BulkCosts,
    LocalRates,
    NotMeasured,
    described_rates,
    machine_costs,
    operations_per_second,
)
from hockney.suites.bsp.models.programs import WORD, supersteps
from hockney.suites.bsp.reproductions.paragon_bsp import BSP_MESHES, MESHES, PRINTED, part_name

KERNELS = {
    "matrix_multiplication": ("matrix multiplication", "multiplication"),
    "bitonic_sort": ("bitonic sort", "sort"),
    "sample_sort": ("sample sort", "sort"),
    "shortest_paths": ("shortest paths", "min-plus"),
}
"""Operation of each workload, and the local work that determines its speed."""
WORDS, BUTTERFLY = f"style=bsp packet={WORD}", "style=bpram route=butterfly"
MATRIX_MESHES, MATRICES = ("4x2", "8x8"), (220, 440, 660, 880)
BITONIC_MESHES, BITONIC_KEYS = ("4x2", "4x4", "8x4", "8x8"), (64, 512, 4096)
SAMPLE_MESH, SAMPLE_KEYS = "8x8", (256, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144)
MOST_WORDS = 8192
"""Keys of a processor that are simulated as words: 4032 long messages that share the mesh take minutes."""
PATHS_MESHES, NODES = ("4x4", "6x6", "8x8", "10x10"), (120, 240, 480)
SHARES = {"bsp/8": ("4x2", "bsp"), "bsp/64": ("8x8", "bsp"), "bpram": ("8x8", "bpram")}
"""Printed shares of communication in a matrix multiplication: mesh and style. The last one is an upper
end."""
IN_BSP = "paragon/matrix/communication/bsp/"
MULTIPLICATIONS = 22.3e6
"""Multiplications and additions of a processor in a second, with which communication is the printed 20% of
the time in BSP on 8 processors; other work has the description's speed."""
CROSSOVER = PRINTED.row("paragon/sample-sort/crossover")
"""Keys of a processor up to which routing along a butterfly is faster."""
COMPARABLE = 0.9
"""Of two speeds, if the slower one is more than this part of the faster."""
WELL = 0.15
"""A prediction is good if its error is at most this."""
OVERESTIMATED = 0.1
REPAIRED = 0.15
ON_FEW, ON_MANY = 16, 100
"""Processors of shortest paths on which BPRAM predicts well, and on which it overestimates."""
SLOW_COPIES = "slow-copies"
"""The part, and the variant of the machine, with which sample sort changes its route at the printed keys."""
COPIES = "copies in memory at 9 MB/s"


@dataclass(frozen=True)
class SimulatedKernel:
    """`errors` by model: (predicted - simulated) / simulated. `communication` includes waiting for others;
    `work` is the local work of the busiest processor in each superstep, by the model."""

    case: Case
    mesh: str
    base: Base
    seconds: float
    communication: float
    work: float
    errors: Mapping[str, float]

    @property
    def route(self) -> str:
        return str(self.case.get("route", "direct"))


def lines(mesh: str, platform: Platform) -> Iterator[str]:
    """The kernels that run on a mesh."""
    p = MESHES[mesh]
    rest = f"sync=window ranks={p}"
    if mesh in MATRIX_MESHES:
        for n in MATRICES:
            for style in (WORDS, "style=bpram"):
                yield f"matrix_multiplication n={n} type=float {style} rate={MULTIPLICATIONS:.6g} {rest}"
    if mesh in BITONIC_MESHES:
        for keys in BITONIC_KEYS:
            yield f"bitonic_sort keys={keys} type=uint32 {WORDS} {_sorting(platform)} {rest}"
    if mesh == SAMPLE_MESH:
        yield from sample_lines(platform, (WORDS, "style=bpram", BUTTERFLY))
    if mesh in PATHS_MESHES:
        speeds = f"{_rate('min-plus', platform)} {_copying(platform)}"
        for n in NODES:
            for style in (WORDS, "style=bpram") if mesh in BSP_MESHES else ("style=bpram",):
                yield f"shortest_paths n={n} {style} {speeds} {rest}"


def sample_lines(platform: Platform, ways: Sequence[str]) -> Iterator[str]:
    speeds = f"{_sorting(platform)} {_copying(platform)}"
    for keys in SAMPLE_KEYS:
        for way in ways:
            if way != WORDS or keys <= MOST_WORDS:
                yield (
                    f"sample_sort keys={keys} type=uint32 {way} {speeds} sync=window "
                    f"ranks={MESHES[SAMPLE_MESH]}"
                )


def _sorting(platform: Platform) -> str:
    return f"{_rate('sort', platform)} merge_rate={operations_per_second(platform, 'merge'):.6g}"


def _copying(platform: Platform) -> str:
    return f"copy_rate={operations_per_second(platform, 'copy'):.6g}"


def _rate(operation: str, platform: Platform) -> str:
    return f"rate={operations_per_second(platform, operation):.6g}"


def rates(platform: Platform) -> LocalRates:
    """The described rates of local work."""
    return described_rates(platform, {"multiplication": MULTIPLICATIONS})


def simulated(answers: Mapping[str, Answer]) -> list[SimulatedKernel]:
    """Every kernel that was simulated, with the errors of the models whose parameters are known."""
    return [kernel for mesh in MESHES for kernel in _on_mesh(mesh, answers[part_name(mesh)])]


def _on_mesh(mesh: str, answer: Answer) -> Iterator[SimulatedKernel]:
    costs = machine_costs(answer.fits, MESHES[mesh], rates(answer.platform))
    if costs.bpram is not None and costs.bpram.startup_alone is not None:
        # A message alone is known from the ping-pong, which does not use the library.
        alone = costs.bpram.startup_alone + answer.platform.libraries.step_s
        costs = replace(costs, bpram=replace(costs.bpram, startup_alone=min(alone, costs.bpram.startup)))
    return kernels_of(mesh, answer, costs)


def kernels_of(mesh: str, answer: Answer, costs: BulkCosts | None = None) -> Iterator[SimulatedKernel]:
    """The kernels of a part, with the errors of models if the machine's `costs` are given."""
    for case in answer.part.cases:
        if case.workload not in KERNELS:
            continue
        records = answer.records(case.workload, **case.values)
        seconds = answer.seconds(case.workload, **case.values)
        steps = supersteps(KERNELS[case.workload][0], case)
        if seconds is None or steps is None:
            continue
        base: Base = "bsp" if case["style"] == "bsp" else "bpram"
        errors, work = {}, 0.0
        for model in (CostModel(base), repaired(base)):
            try:
                if costs is not None:
                    terms = predict(steps, costs, model)
                    work, errors[model.name] = terms.work, relative_error(terms.total, seconds)
            except NotMeasured:
                continue
        yield SimulatedKernel(case, mesh, base, seconds, _communication(records), work, errors)


def _communication(records: Sequence[Record]) -> float:
    """Seconds of one repetition; 0 if the kernel did not report them."""
    found = [value for r in records if (m := r.metrics.get("communication")) for value in m.values]
    return median(found) if found else 0.0


def of(
    kernels: Sequence[SimulatedKernel], workload: str, base: str = "", **fixed: object
) -> list[SimulatedKernel]:
    return [
        k
        for k in kernels
        if k.case.workload == workload
        and base in ("", k.base)
        and all(k.case.get(name) == value for name, value in fixed.items())
    ]


# printed numbers


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    """Shares of communication, and the number of keys at which the better route changes."""
    kernels = simulated(answers)
    rows = []
    for name, (mesh, style) in SHARES.items():
        row = PRINTED.row(f"paragon/matrix/communication/{name}")
        found = of(kernels, "matrix_multiplication", style, n=max(MATRICES), ranks=MESHES[mesh])
        share = found[0].communication / found[0].seconds if found else None
        upper = style == "bpram"
        status: Status = "fitted" if name == "bsp/8" else "predicted"
        what = f"communication in a matrix multiplication, {style}, {MESHES[mesh]} processors"
        rows.append(
            Compared(
                row.key, what, row.si, share, None, PERCENT, status, table="kernels",
                note="the paper: less than" if upper else "", bound=upper,
            )
        )  # fmt: skip
    copying = list(kernels_of(SAMPLE_MESH, answers[SLOW_COPIES]))
    for found, mechanism in ((kernels, ""), (copying, COPIES)):
        status = "fitted" if mechanism else "predicted"
        rows.append(
            Compared(
                CROSSOVER.key, "sample sort: the butterfly is faster up to", CROSSOVER.si, crossover(found),
                None, "keys", status, mechanism, table="kernels",
            )
        )  # fmt: skip
    return rows


def crossover(kernels: Sequence[SimulatedKernel]) -> float | None:
    """The most keys of a processor, of those simulated, with which the butterfly is faster than direct
    routing."""
    by_keys = {way: _by_keys(kernels, way) for way in ("bpram", "butterfly")}
    faster = [
        keys
        for keys, seconds in by_keys["butterfly"].items()
        if keys in by_keys["bpram"] and seconds < by_keys["bpram"][keys]
    ]
    return float(max(faster)) if faster else None


def _by_keys(kernels: Sequence[SimulatedKernel], way: str) -> dict[int, float]:
    """Seconds of sample sort by keys of a processor: in BSP, in BPRAM directly, or by butterfly."""
    base, route = ("bpram", way) if way == "butterfly" else (way, "direct")
    return {int(k.case.number("keys")): k.seconds for k in of(kernels, "sample_sort", base, route=route)}


# what the paper states


def checks(answers: Mapping[str, Answer], compared: Sequence[Compared]) -> list[Check]:
    kernels = simulated(answers)
    return [
        _below(kernels),
        _communication_in_bsp(compared),
        _little_communication(kernels),
        _growth(kernels),
        _fewer_keys(kernels),
        _direct_loses(kernels),
        _butterfly(kernels),
        _butterfly_beats_bsp(kernels),
        _predicted_on_few(kernels),
        _overestimated_on_many(kernels),
        _repaired(kernels),
    ]


def speed(kernel: SimulatedKernel) -> float:
    """Mflop/s of a processor in a matrix multiplication."""
    return 2 * kernel.case.number("n") ** 3 / kernel.case.ranks / kernel.seconds / 1e6


def _below(kernels: Sequence[SimulatedKernel]) -> Check:
    stated = Statement("bsp-below-bpram", "figure 6", "BSP never achieves a performance comparable to BPRAM")
    shares = {
        (mesh, n): speed(bsp[0]) / speed(bpram[0])
        for mesh in MATRIX_MESHES
        for n in MATRICES
        if (bsp := of(kernels, "matrix_multiplication", "bsp", n=n, ranks=MESHES[mesh]))
        and (bpram := of(kernels, "matrix_multiplication", "bpram", n=n, ranks=MESHES[mesh]))
    }
    if len(shares) < len(MATRIX_MESHES) * len(MATRICES):
        return stated.unknown()
    most = max(shares, key=lambda each: shares[each])
    found = f"at most {shares[most]:.0%} of its speed, on {most[0]} with n = {most[1]}"
    return stated.check(shares[most] < COMPARABLE, found)


def _communication_in_bsp(compared: Sequence[Compared]) -> Check:
    """The check of communication's share in BSP, of which the share on 8 processors was fitted."""
    fitted, predicted = (row for row in compared if row.key.startswith(IN_BSP))
    what = (
        f"in BSP, communication is {fitted.published:.0%} of a multiplication with n = {max(MATRICES)} on 8 "
        f"processors and {predicted.published:.0%} on 64, within {CLOSE[-1]:.0%}"
    )
    return Statement("bsp-communication", "text on figure 6", what).within((fitted, predicted), CLOSE[-1])


def _little_communication(kernels: Sequence[SimulatedKernel]) -> Check:
    limit = PRINTED.row("paragon/matrix/communication/bpram").si
    n = max(MATRICES)
    what = f"in BPRAM, communication is less than {limit:.1%} of a matrix multiplication with n = {n}"
    stated = Statement("bpram-communication", "text on figure 6", what)
    found = [k.communication / k.seconds for k in of(kernels, "matrix_multiplication", "bpram", n=n)]
    if len(found) < len(MATRIX_MESHES):
        return stated.unknown()
    return stated.check(max(found) < limit, f"{max(found):.1%}")


def bitonic_errors(kernels: Sequence[SimulatedKernel], keys: int) -> dict[int, float]:
    """The errors of BSP for bitonic sort, by number of processors."""
    return {
        k.case.ranks: k.errors["bsp"] for k in of(kernels, "bitonic_sort", keys=keys) if "bsp" in k.errors
    }


def _growth(kernels: Sequence[SimulatedKernel]) -> Check:
    """The check that BSP's error grows as p / log p. With the paper's own L, part of which does not depend on
    p, the error grows faster."""
    what = "BSP overestimates bitonic sort by an error that grows as p / log p, within a factor of 2"
    stated = Statement("bitonic-error-grows", "figure 7", what)
    errors = bitonic_errors(kernels, min(BITONIC_KEYS))
    scaled = [error * math.log2(p) / p for p, error in errors.items()]
    if len(scaled) < len(BITONIC_MESHES):
        return stated.unknown()
    overestimated = min(errors.values()) > OVERESTIMATED
    holds = overestimated and scaled[0] / 2 <= min(scaled) and max(scaled) <= 2 * scaled[0]
    found = _on_processors(errors)
    if overestimated:
        found += f": {scaled[-1] / scaled[0]:.1f} times as much as p / log p from first to last"
    return stated.check(holds, found)


def _fewer_keys(kernels: Sequence[SimulatedKernel]) -> Check:
    stated = Statement("bitonic-error-few-keys", "figure 7", "the error is largest for few keys")
    errors = [bitonic_errors(kernels, keys) for keys in BITONIC_KEYS]
    if any(len(each) < len(BITONIC_MESHES) for each in errors):
        return stated.unknown()
    holds = all(few[p] > many[p] for few, many in pairwise(errors) for p in few)
    most = max(MESHES[mesh] for mesh in BITONIC_MESHES)
    found = ", ".join(f"{each[most]:+.0%}" for each in errors)
    return stated.check(holds, f"{found} on {most} processors")


def _direct_loses(kernels: Sequence[SimulatedKernel]) -> Check:
    what = f"BPRAM with direct routing is slower than BSP with few keys of a processor ({min(SAMPLE_KEYS)})"
    return _slower(kernels, Statement("direct-slower-than-bsp", "figure 8", what), "bpram", "bsp", 1)


def _butterfly(kernels: Sequence[SimulatedKernel]) -> Check:
    what = f"the butterfly is faster than direct routing up to about {CROSSOVER.si:g} keys of a processor"
    stated = Statement("butterfly-crossover", "figure 8", what)
    found = crossover(kernels)
    if found is None:
        return stated.unknown()
    more = ", the most that were simulated" if found == max(SAMPLE_KEYS) else ""
    return stated.check(found == CROSSOVER.si, f"up to {found:g}{more}")


def _butterfly_beats_bsp(kernels: Sequence[SimulatedKernel]) -> Check:
    stated = Statement("butterfly-faster-than-bsp", "figure 8", "the butterfly is always faster than BSP")
    return _slower(kernels, stated, "bsp", "butterfly", len(SAMPLE_KEYS))


def _slower(kernels: Sequence[SimulatedKernel], stated: Statement, slow: str, fast: str, sizes: int) -> Check:
    """Whether sample sort takes longer in one way than in another, with the fewest keys."""
    slower, faster = _by_keys(kernels, slow), _by_keys(kernels, fast)
    known = [keys for keys in SAMPLE_KEYS if keys in slower and keys in faster][:sizes]
    if not known:
        return stated.unknown()
    ratios = [slower[keys] / faster[keys] for keys in known]
    up_to = f" or more, up to {known[-1]} keys" if sizes > 1 else ""
    return stated.check(min(ratios) > 1, f"{min(ratios):.2f} times as long{up_to}")


def paths_errors(kernels: Sequence[SimulatedKernel]) -> dict[int, float]:
    """The errors of BPRAM for shortest paths with the most nodes, by number of processors."""
    return {
        k.case.ranks: k.errors["bpram"]
        for k in of(kernels, "shortest_paths", "bpram", n=max(NODES))
        if "bpram" in k.errors
    }


def _predicted_on_few(kernels: Sequence[SimulatedKernel]) -> Check:
    what = f"BPRAM predicts shortest paths well on few processors ({ON_FEW}), within {WELL:.0%}"
    stated = Statement("paths-predicted", "figure 9", what)
    errors = paths_errors(kernels)
    if ON_FEW not in errors:
        return stated.unknown()
    return stated.check(abs(errors[ON_FEW]) <= WELL, _on_processors(errors))


def _overestimated_on_many(kernels: Sequence[SimulatedKernel]) -> Check:
    what = "BPRAM overestimates shortest paths on many processors, more than on few"
    stated = Statement("paths-overestimated", "figure 9", what)
    errors = paths_errors(kernels)
    if len(errors) < len(PATHS_MESHES):
        return stated.unknown()
    holds = errors[ON_MANY] > max(OVERESTIMATED, errors[ON_FEW])
    return stated.check(holds, _on_processors(errors))


def _on_processors(errors: Mapping[int, float]) -> str:
    return ", ".join(f"{error:+.0%} on {p}" for p, error in errors.items())


def _repaired(kernels: Sequence[SimulatedKernel]) -> Check:
    what = f"repaired models within {REPAIRED:.0%} in the median"
    stated = Statement("repaired-models", "", what)
    errors = [abs(e) for k in kernels if (e := k.errors.get(repaired(k.base).name)) is not None]
    if not errors:
        return stated.unknown()
    found = f"{median(errors):.1%} in the median of {len(errors)}, at worst {max(errors):.0%}"
    return stated.check(median(errors) <= REPAIRED, found)


def summary(checks: Sequence[Check]) -> tuple[str, ...]:
    """A sentence on how many statements hold, and which do not; empty if nothing was simulated."""
    if all(check.found == NOT_SIMULATED for check in checks):
        return ()
    failed = [check.what for check in checks if not check.holds]
    text = f"{len(checks) - len(failed)} of {len(checks)} statements of the paper hold"
    return (f"{text}; not: {'; '.join(failed)}." if failed else f"{text}.",)


# figures


def figures(answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    """The paper's figures 6 to 9."""
    kernels = simulated(answers)
    return _matrix(kernels), _bitonic(kernels), _sample(kernels), _paths(kernels)


def _matrix(kernels: Sequence[SimulatedKernel]) -> Figure:
    drawn = [
        pages.make_series(
            f"{style}, {MESHES[mesh]} processors",
            [
                (k.case.number("n"), speed(k))
                for k in of(kernels, "matrix_multiplication", style)
                if k.mesh == mesh
            ],
        )
        for mesh in MATRIX_MESHES
        for style in ("bsp", "bpram")
    ]
    return Figure(
        "paragon-figure-6",
        "Figure 6: matrix multiplication",
        Axis("n", "", "linear"),
        Axis("Mflop/s of a processor", "Mflop/s", "linear", include=(0.0,)),
        tuple(drawn),
    )


def _bitonic(kernels: Sequence[SimulatedKernel]) -> Figure:
    drawn = [
        pages.make_series(f"{keys} keys of a processor", sorted(bitonic_errors(kernels, keys).items()))
        for keys in BITONIC_KEYS
    ]
    return Figure(
        "paragon-figure-7",
        "Figure 7: bitonic sort, relative error of BSP",
        Axis("processors", "processors", "linear"),
        Axis("(predicted - simulated) / simulated", "", "linear", include=(0.0,)),
        tuple(drawn),
    )


def _sample(kernels: Sequence[SimulatedKernel]) -> Figure:
    names = {"bsp": "bsp", "bpram": "bpram", "butterfly": "bpram, butterfly"}
    drawn = [
        pages.make_series(name, [(keys, seconds / keys) for keys, seconds in _by_keys(kernels, way).items()])
        for way, name in names.items()
    ]
    return Figure(
        "paragon-figure-8",
        f"Figure 8: sample sort on {MESHES[SAMPLE_MESH]} processors",
        Axis("keys of a processor", "keys"),
        Axis("time for each key of a processor", "s"),
        tuple(drawn),
        marks=((CROSSOVER.si, "32K"),),
    )


def _paths(kernels: Sequence[SimulatedKernel]) -> Figure:
    """The figure of shortest paths, without local work, per element of the matrix of lengths."""
    drawn = []
    for mesh in PATHS_MESHES:
        group = f"{MESHES[mesh]} processors"
        found = [k for k in of(kernels, "shortest_paths", "bpram") if k.mesh == mesh]
        points = [(n := k.case.number("n"), (k.seconds - k.work) / n**2) for k in found]
        predicted = [
            (n := k.case.number("n"), ((1 + k.errors["bpram"]) * k.seconds - k.work) / n**2)
            for k in found
            if "bpram" in k.errors
        ]
        drawn += [
            pages.make_series(f"{group}, simulated", points, group=group),
            pages.make_series(f"{group}, BPRAM", predicted, "line", group),
        ]
    return Figure(
        "paragon-figure-9",
        "Figure 9: shortest paths, communication for each element",
        Axis("n, nodes", "nodes", "linear"),
        Axis("communication / n^2", "s"),
        tuple(drawn),
        "Points: simulated, without local work. Lines: BPRAM, without local work.",
    )
