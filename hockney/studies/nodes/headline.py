# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: slow nodes, slow links, and what the run would have found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.wording import list_names, plural, verb_form
from hockney.pages.format import ratio_interval_suffix
from hockney.studies.needed_budget import budget_multiple, remedy
from hockney.studies.nodes.effects import measure_title
from hockney.studies.nodes.results import TARGET, NodesResults, Slowdown

MAX_NAMED = 5
"""The maximum number of nodes or links with a sentence each."""


def headline(results: NodesResults) -> tuple[str, ...]:
    if not results.slowdowns:
        return ("Nothing was measured.",)
    return tuple(_sentences(results))


def _sentences(results: NodesResults) -> Iterator[str]:
    slow_nodes, slow_links, slow_switches = results.slow_nodes, results.slow_links, results.slow_switches
    if not slow_nodes and not slow_links and not slow_switches:
        yield f"None of {plural(len(results.nodes), 'node')} and no link between them is named slow."
    for noun, slow in (("switch", slow_switches), ("node", slow_nodes)):
        for name, slowdowns in list(slow.items())[:MAX_NAMED]:
            yield f"{noun.capitalize()} {name} is slow{_slowdown_text(slowdowns)}."
        if len(slow) > MAX_NAMED:
            yield _others_text(noun, list(slow)[MAX_NAMED:])
    by_pair: dict[str, list[Slowdown]] = {}
    for link in slow_links:
        by_pair.setdefault(link.name, []).append(link)
    for name, links in list(by_pair.items())[:MAX_NAMED]:
        yield f"The link {name} is slow{_slowdown_text(links)}."
    if len(by_pair) > MAX_NAMED:
        yield _others_text("link", list(by_pair)[MAX_NAMED:])
    if results.has_groups:
        yield "Slow pairs form groups, as on several switches, so no single link is named."
    yield _power_sentence(results)


def _slowdown_text(slowdowns: Sequence[Slowdown]) -> str:
    """The largest of the slowdowns, and by how many measures a node or link is slow."""
    largest = max(slowdowns, key=lambda s: s.ratio.value)
    count = f" by {len(slowdowns)} measures, most by" if len(slowdowns) > 1 else " by"
    return (
        f"{count} {measure_title(largest.measure)}: {largest.ratio.value:.2f}"
        f"{ratio_interval_suffix(largest.ratio)} times as long as the median"
    )


def _others_text(noun: str, names: list[str]) -> str:
    plurals = f"more {noun}", "more switches" if noun == "switch" else f"more {noun}s"
    count, verb = plural(len(names), *plurals), verb_form(len(names), "is", "are")
    return f"{count} {verb} slow: {list_names(names)}."


def _power_sentence(results: NodesResults) -> str:
    node_limits = [power.node for power in results.main_powers]
    link_limits = [power.link for power in results.main_powers if power.link is not None]
    known = [limit for limit in node_limits if limit is not None]
    if len(known) < len(node_limits):
        launches = min(power.launches for power in results.powers)
        return "The launches are too few to name anything. " + remedy(
            budget_multiple([float("inf")], launches), launches, results.evidence.settings
        )
    text = f"By typical times, 95% of such runs would name a node that takes {max(known):.2f} times as long"
    if link_limits:
        text += f", or a link that takes {max(link_limits):.2f} times as long"
    if results.is_conclusive:
        return f"{text}."
    multiple = ((max(known) - 1) / (TARGET - 1)) ** 2
    launches = min(power.launches for power in results.powers)
    return f"{text}. " + remedy(budget_multiple([multiple], launches), launches, results.evidence.settings)
