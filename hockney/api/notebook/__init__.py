# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What Python programs and notebooks have beyond what the command line needs: keywords, data frames, fitted
models to call, a log. `import hockney` offers it."""
