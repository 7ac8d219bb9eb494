// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "comm/affinity.hpp"

namespace hockney {

// The core, last-level cache and socket of a process, as numbers that are unique on its node. A core and a
// cache are numbered by the lowest of their processors, a socket as in the system. -1 if unknown. Cores that
// share a cache are always in the same socket.
struct Core {
  int core = -1;
  int cache = -1;
  int socket = -1;

  bool operator==(const Core&) const = default;
};

// The location of a process that may use the processors `allowed`. All numbers are unknown unless these
// belong to a single core. `system` is the folder of Linux's sysfs.
Core core_of(const Processors& allowed, const std::string& system = "/sys");

}  // namespace hockney
