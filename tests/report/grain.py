# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page on granularity, from a paper's parameters of SUNs."""

from __future__ import annotations

from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section
from hockney.models.applications.granularity import Algorithm, required_work
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts, RelativeBounds
from hockney.studies.granularity.figures import EfficiencyExplorer

WORD = 4
SUN = PointToPointCosts(
    "sun", "SUNs on one Ethernet", (CostPiece(0, 1500e-6, 5e-6 / WORD),), True, "the paper"
)
SERIAL = tuple(0.005 * k for k in range(41))


def over_serial(words: int) -> Figure:
    def needed(wanted: float, ranks: int) -> Series:
        rows = [(required_work(wanted, Algorithm(1.0, words * WORD, s), SUN, ranks), s) for s in SERIAL]
        x, y = zip(*((work, s) for work, s in rows if work is not None), strict=True)
        return Series(f"{ranks} ranks, {wanted:.0%}", x, y, kind="line", group=f"{ranks} ranks")

    return Figure(
        f"levels-serial-{words}",
        f"T that an efficiency needs, over the serial fraction, {words} words",
        Axis("total computing time T", "s"),
        Axis("serial fraction s", "%", "linear"),
        tuple(needed(wanted, ranks) for ranks in (2, 4, 8) for wanted in (1 / ranks, 0.8)),
        f"Equation 6 with messages of {words} words.",
        ("odd numbers of ranks exchange in other steps than even ones",),
    )


MACHINES = (
    PointToPointCosts(
        "sun",
        SUN.title,
        (CostPiece(0, 1500e-6, 5e-6 / WORD),),
        True,
        "the paper",
        max_size=1 << 40,
        max_ranks=16,
        eager_limit=128000,
    ),
    PointToPointCosts(
        "here",
        "this machine",
        (
            CostPiece(0, 410e-9, 0.11e-9),
            CostPiece(4096, 700e-9, 0.145e-9),
            CostPiece(65536, 2.9e-6, 0.104e-9),
            CostPiece(1 << 20, -97.7e-6, 0.2e-9),
        ),
        False,
        "a good fit of a made-up survey",
        max_size=1 << 22,
        max_ranks=2,
        eager_limit=4095,
        band=(
            RelativeBounds(0, 0.95, 1.04),
            RelativeBounds(2048, 0.9, 1.1),
            RelativeBounds(65536, 0.8, 1.02),
            RelativeBounds(1 << 22, 0.7, 1.3),
        ),
        changes=((2048.0, 4096.0), (32768.0, 65536.0), (float(1 << 19), float(1 << 20))),
    ),
    PointToPointCosts(
        "daemon",
        "a daemon passes each message",
        (CostPiece(0, 3e-3, 2e-6),),
        False,
        "",
        max_size=1 << 40,
        max_ranks=64,
        medium=(1e-3, 1e-6),
        half_duplex_s_per_byte=5e-7,
    ),
    PointToPointCosts(
        "nodes",
        "nodes of 4 cores",
        (CostPiece(0, 20e-6, 1e-8), CostPiece(1 << 14, 50e-6, 8e-9)),
        False,
        "",
        max_size=1 << 30,
        max_ranks=4096,
        eager_limit=1 << 14,
        within_node=PointToPointCosts(
            "nodes",
            "nodes of 4 cores",
            (CostPiece(0, 1e-6, 1e-10),),
            False,
            "",
            eager_limit=1 << 14,
            band=(RelativeBounds(8, 0.97, 1.2), RelativeBounds(1 << 20, 0.6, 1.1)),
            changes=((1 << 13, 1 << 14),),
        ),
        cores=4,
    ),
    PointToPointCosts(
        "cluster",
        "nodes of 8 cores, whose memory is shared, all measured",
        (CostPiece(0, 5e-6, 2e-10), CostPiece(1 << 15, 12e-6, 1e-10)),
        False,
        "",
        max_size=1 << 30,
        max_ranks=512,
        eager_limit=1 << 15,
        band=(RelativeBounds(8, 0.9, 1.3), RelativeBounds(1 << 20, 0.8, 1.2)),
        changes=((1 << 14, 1 << 15),),
        within_node=PointToPointCosts(
            "cluster",
            "nodes of 8 cores, whose memory is shared, all measured",
            (CostPiece(0, 4e-7, 5e-11),),
            False,
            "",
            eager_limit=4096,
            band=(RelativeBounds(8, 0.95, 1.05), RelativeBounds(1 << 22, 0.7, 1.1)),
            place="node",
            node_sharing=NodeSharing(3e10, 2e-8, 4, (2.5e10, 3.3e10)),
        ),
        cores=8,
        place="network",
    ),
)
EXPLORER = EfficiencyExplorer(
    MACHINES, (1e-6, 1000.0, 1.0), (0, 1 << 22, 4000), (0.0, 1.0, 0.01), (1, 1024, 4)
)
WIDGET = EXPLORER.widget(
    "explorer",
    "Which efficiency will I get?",
    "The machines are those of the paper, and made-up ones.",
)


def grain(figures: tuple[Figure, ...] = (over_serial(1), over_serial(10000))) -> Page:
    return Page(
        "Is the grain coarse enough?",
        "From printed parameters",
        ("On 2 ranks a message of 4 B breaks even at 6 ms.",),
        (),
        (
            Section("Lines of equal efficiency", ("What equation 6 says.",), figures),
            Section("Your algorithm", widget=WIDGET),
        ),
        (),
        (),
    )
