# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: slow nodes, slow links, and what the run would have found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.wording import list_names, plural, verb_form
from hockney.pages.format import format_share, ratio_interval_suffix
from hockney.studies.needed_budget import budget_multiple, remedy
from hockney.studies.nodes.effects import measure_title
from hockney.studies.nodes.results import TARGET, NodesResults, Slowdown
from hockney.studies.nodes.tables import DELAYS

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
            yield f"{noun.capitalize()} {name}{_slowdown_text(slowdowns)}."
        if len(slow) > MAX_NAMED:
            yield _others_text(noun, list(slow)[MAX_NAMED:])
    by_pair: dict[str, list[Slowdown]] = {}
    for link in slow_links:
        by_pair.setdefault(link.name, []).append(link)
    for name, links in list(by_pair.items())[:MAX_NAMED]:
        yield f"The link {name}{_slowdown_text(links)}."
    if len(by_pair) > MAX_NAMED:
        yield _others_text("link", list(by_pair)[MAX_NAMED:])
    undecided = list(dict.fromkeys(s.name for s in results.undecided if s.name not in slow_nodes))
    if undecided:
        verb = verb_form(len(undecided), "is", "are")
        yield f"{list_names(undecided)} {verb} undecided and might take {TARGET:.2f} times as long."
    if results.has_groups:
        yield "Slow pairs form groups, as on several switches, so no single link is named."
    yield _power_sentence(results)


def _slowdown_text(slowdowns: Sequence[Slowdown]) -> str:
    """The largest of the slowdowns, and by how many measures a node or link is slow."""
    delays = next((s for s in slowdowns if s.kind == "delays"), None)
    others = [s for s in slowdowns if s is not delays]
    delayed = ""
    if delays is not None:
        delayed = f" delays {delays.delayed} of {delays.repetitions} repetitions, as if packets were lost"
    if not others:
        return delayed
    largest = max(others, key=lambda s: s.ratio.value)
    count = f" is slow by {len(others)} measures, most by" if len(others) > 1 else " is slow by"
    return (
        f"{count} {measure_title(largest.measure)}: {largest.ratio.value:.2f}"
        f"{ratio_interval_suffix(largest.ratio)} times as long as the median"
        + (f", and{delayed}" if delayed else "")
    )


def _others_text(noun: str, names: list[str]) -> str:
    plurals = f"more {noun}", "more switches" if noun == "switch" else f"more {noun}s"
    count, verb = plural(len(names), *plurals), verb_form(len(names), "is", "are")
    return f"{count} {verb} slow: {list_names(names)}."


def _power_sentence(results: NodesResults) -> str:
    node_limits = [power.node for power in results.main_powers]
    link_limits = [power.link for power in results.main_powers if power.link is not None]
    known = [limit for limit in node_limits if limit is not None]
    launches = min(power.launches for power in results.powers)
    if len(known) < len(node_limits) or results.too_few_for_links:
        reason = (
            "The launches are too few to name anything."
            if len(known) < len(node_limits)
            else "With so few launches, less than 95% of such runs name a slow link, however slow it is."
        )
        more = remedy(budget_multiple([float("inf")], launches), launches, results.evidence.settings)
        return f"{reason} {more}"
    text = f"By typical times, 95% of such runs would name a node that takes {max(known):.2f} times as long"
    if link_limits:
        text += f", or a link that takes {max(link_limits):.2f} times as long"
    if max(known) <= TARGET:
        return f"{text}.{_loss_text(results)}"
    multiple = ((max(known) - 1) / (TARGET - 1)) ** 2
    return f"{text}. " + remedy(budget_multiple([multiple], launches), launches, results.evidence.settings)


def _loss_text(results: NodesResults) -> str:
    """What the run would have found by the numbers of delayed repetitions."""
    power = next((power for power in results.powers if power.measure == DELAYS), None)
    if power is None or power.node is None or power.link is None or results.evidence.machine.is_exact:
        return ""
    return (
        f" They would also name a node that delays {format_share(power.node)} of its messages, "
        f"or a link that delays {format_share(power.link)}."
    )
