# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the doctor finds by starting ranks: on which hosts, by what, where they meet, and what it costs."""
