# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Actions of the verbs, one module each with the name of the verb. `action` takes the verb's options. The
module is imported when the verb runs, so that help does not need it."""
