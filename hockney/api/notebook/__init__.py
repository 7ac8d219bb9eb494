# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Features for Python programs and notebooks beyond the command line: keyword arguments, data frames,
callable fitted models, logging. Exported by `import hockney`."""
