// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"
#include "npb/flow/field.hpp"

namespace hockney::npb::ssor {

// The integral of the pressure over the surface of the box of the points 1 <= x <= N - 2, 1 <= y <= N - 3 and
// 2 <= z <= N - 2, by the trapezoidal rule. Collective, not for timed parts.
double surface_integral(const Comm& comm, const flow::Field& u, const flow::Subgrid& subgrid);

}  // namespace hockney::npb::ssor
