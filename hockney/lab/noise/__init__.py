# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of this machine, for the doctor: watched for some seconds, and put into words."""
