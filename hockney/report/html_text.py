# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Text for the page: sanitised and formatted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from hockney.core.errors import one_line

_NUMBER = r"(?<![\w.])[-+]?\d[\d.,]*"
_SIZE = "(?:B|KiB|MiB|GiB|TiB|[kKMGT]B)"
_UNITS = rf"(?:[pnum]?s/B|ns|us|ms|s|{_SIZE}|[kMG]?B/s|ranks?|cores?|launches)"
_INTERVAL = r"(?: \[[^\]\s]+, [^\]\s]+\])?"
_QUANTITY = re.compile(rf"{_NUMBER} {_UNITS}(?![\w/]){_INTERVAL}")
_PERCENT = "%(?! (?:intervals?|efficient from))"
_RESULT = re.compile(rf"{_NUMBER}(?: {_UNITS}(?![\w/]){_INTERVAL}|{_PERCENT}| times(?= as (?:long|much)))")
_COUNT_NOUNS = re.compile("ranks?|cores?|launches")
_GIVEN_PREFIX = re.compile(r"(?:\b(?:with|within|only|exchange|by|than|for|below|above)|(?<!error )\bof) $")
_GIVEN_SIZE = re.compile(rf"[\d.,]+ {_SIZE}")
_SIZE_INTERVAL = re.compile(rf" \((?:no interval|95%: (?:at (?:most|least) )?[\d.,]+ {_SIZE}\b)")


def to_printable(value: Any) -> Any:
    """Convert every text that the template prints into one printable line. The template escapes it
    afterwards."""
    return one_line(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def keep_units_together(text: str) -> Markup:
    """Keep each number and its unit on the same line."""
    return _mark_quantities(text, "{}")


def emphasise_results(text: str) -> Markup:
    """Emphasise the results in a headline: times, rates, shares and ratios, with their signs. Text in
    brackets, counts, and given quantities ("with 10 us", "within 20%", "95% intervals") are not emphasised. A
    size counts as given, unless it has an interval or follows a colon ("Eager limit: 64 KiB")."""
    return _mark_quantities(text, "<strong>{}</strong>", _RESULT)


def to_sentence(text: str) -> str:
    """Return the text with a capital letter and a full stop."""
    text = one_line(text)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) or not text else ".")


def _mark_quantities(text: str, markup: str, pattern: re.Pattern[str] = _QUANTITY) -> Markup:
    parts, end = [], 0
    text = one_line(text)
    for match in pattern.finditer(text):
        prefix = text[: match.start()]
        is_plain = prefix.count("(") > prefix.count(")") or bool(
            _COUNT_NOUNS.search(match[0]) or _GIVEN_PREFIX.search(prefix)
        )
        if _GIVEN_SIZE.fullmatch(match[0]):
            is_plain = is_plain or not (
                prefix.endswith(": ") or bool(_SIZE_INTERVAL.match(text, match.end()))
            )
        parts += [
            escape(text[end : match.start()]),
            Markup("{}" if is_plain else markup).format(_keep_together(match[0])),
        ]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def _keep_together(quantity: str) -> Markup:
    """Use no-break spaces in the quantity; its interval may move to the next line."""
    value, bracket, interval = quantity.partition(" [")
    return escape(value.replace(" ", "\u00a0") + (" [" + interval.replace(" ", "\u00a0") if bracket else ""))


def printable_data(value: Any) -> Any:
    """Return plain data with each text as one printable line."""
    if isinstance(value, Mapping):
        return {key: printable_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [printable_data(item) for item in value]
    return one_line(value) if isinstance(value, str) else value


def embedded_json(value: Any) -> Markup:
    """Return JSON that no HTML parser can mistake for the end of its script element, and no script for a line
    end."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))
