# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What an application pays for its messages, and what becomes of its efficiency."""
