# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page as one HTML file that works offline (`write`), and its figures as files (`figures`)."""

from hockney.report.output import figures, write

__all__ = ["figures", "write"]
