# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Errors that a test expects, by their code: it decides the class, and so the exit code
(tests/test_error_codes.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from hockney.core.errors import HockneyError


@contextlib.contextmanager
def raises_code(code: str, **fields: object) -> Iterator[pytest.ExceptionInfo[HockneyError]]:
    """An error with this code, and at least these fields, is raised inside."""
    with pytest.raises(HockneyError) as caught:
        yield caught
    assert (caught.value.code, *(caught.value.fields[name] for name in fields)) == (code, *fields.values())
