# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Features for Python programs and notebooks beyond those of the command line: keywords, data frames,
callable fitted models, a log. Exported by `import hockney`."""
