// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"
#include "hockney/bsp.hpp"

namespace hockney::bsp::inline v1 {

// Where `given` is automatic or 0, what the environment of process 0 requests. Collective; the same on all
// processes. Throws InvalidCase on all of them for a value that there is not.
Settings completed(const Settings& given, const Comm& comm);

}  // namespace hockney::bsp::inline v1
