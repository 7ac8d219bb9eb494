# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A traced program as a graph of its calls, messages and collectives, and predictions of what changes would
bring."""
