# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page as one HTML file that works offline (`write`), and its figures as files (`figures`)."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.report.render import figures, write
else:
    __getattr__ = lazy.attribute_getter(__name__)
