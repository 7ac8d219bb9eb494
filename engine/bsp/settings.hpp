// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"
#include "hockney/bsp.hpp"

namespace hockney::bsp::inline v1 {

// Completes settings that are automatic or 0 from the environment of process 0. Collective; the result is the
// same on all processes. Throws InvalidCase on all of them for an invalid value.
Settings completed(const Settings& requested, const Comm& comm);

}  // namespace hockney::bsp::inline v1
