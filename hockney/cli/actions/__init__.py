# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One module per verb, named like it: what it does and prints. Its `action` takes the verb's options; it is
imported when the verb is run, so that help needs nothing of it."""
