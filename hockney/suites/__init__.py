# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Suites: programs, models and studies for part of hockney's users, each in a separate folder.

A suite has plug-ins in folders named after the core's plug-in folders, where the core finds them
(`hockney.core.plugins`): studies/ (cases and pages), fits/ (models fitted to records), fakes/ (times on
the machine with made-up costs), predictions/ (`hockney predict KERNEL`), reproductions/ (papers). Its
other modules are private to the suite. The core does not import suites, and suites do not import each
other. hockney works without any of these folders."""
