# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of bulk synchronous models, fitted to records."""
