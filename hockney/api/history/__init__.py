# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The flow of `hockney history`, and its results for programs and notebooks."""
