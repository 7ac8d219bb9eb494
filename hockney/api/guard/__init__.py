# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring and comparing with a baseline at once, for CI and cron."""
