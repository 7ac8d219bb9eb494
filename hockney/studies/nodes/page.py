# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: slow nodes and links, the map of all pairs, and all nodes."""

from __future__ import annotations

from hockney.draw.page import Page
from hockney.models.significance import NOTABLE
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.studies.nodes import columns, figures
from hockney.studies.nodes.headline import headline
from hockney.studies.nodes.results import NodesResults

METHOD = (
    "In each repetition, all nodes communicate in disjoint pairs; a tournament of N - 1 repetitions contains "
    "each of the pairs of N nodes once, in a new random order.",
    "In each launch, medians separate the effects of nodes from those of links: the log time of a pair is "
    "the sum of an effect of each node, and one of the link (Tukey's median polish).",
    "The effects over the launches are tested by a t test, whose variances are moderated by those of all "
    "other nodes or links (Smyth 2004).",
    "A link must also be slow by a permutation test, because noise that only delays is skewed. Delayed "
    "repetitions are counted and compared by a binomial test, given their total.",
    "A node or link is slow if the adjusted p-value is at most 5% and it takes at least "
    f"{NOTABLE:.2f} times as long as the median. The p-values of nodes are adjusted by Benjamini and "
    "Hochberg, for links by Holm: on average at most 2.5% of the named nodes are false, and the chance "
    "of any false link is at most 2.5%.",
)


def page(evidence: Evidence) -> Page:
    results = NodesResults.of(evidence)
    ranking = figures.ranking_figure(results)
    pair_map = figures.pair_map(results)
    sections = [
        section("Slow nodes and links", tables=[columns.slow_table(results)]),
        section("Ranking", figures=[ranking if pair_map is not None else None]),
        section("Power", tables=[columns.power_table(results)]),
        section("All nodes", tables=[columns.ranking_table(results)], closed=True),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Nodes compared",
        headline=headline(results),
        sections=sections,
        method=METHOD,
        lead=pair_map or ranking,
    )
