# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m hockney` is the command line."""

from hockney.cli import main

if __name__ == "__main__":
    main()
