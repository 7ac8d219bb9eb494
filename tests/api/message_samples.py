# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about runs."""

from __future__ import annotations

from hockney.core.notice import Notice

SAMPLES = {Notice: [Notice("something was noticed", "something-noticed")]}
