# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a run's folder is unchanged, complete and correct; and the intact part of a damaged one."""

from hockney.api.verification.check import salvage, verify

__all__ = ["salvage", "verify"]
