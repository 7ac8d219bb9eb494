# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One module for each verb; its `command` is added to the group in `app`."""
