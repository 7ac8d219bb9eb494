# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the verbs: options, their types, and their combined meaning."""
