// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <smpi/smpi.h>
int hockney_x() { return SIMGRID_VERSION; }
