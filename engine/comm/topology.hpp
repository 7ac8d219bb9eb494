// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "comm/affinity.hpp"

namespace hockney {

// The core, last-level cache and socket of a process, as numbers that are unique on its node: a core and a
// cache have the lowest number of the processors that share them, a socket the system's. -1 if unknown. Cores
// with the same cache are always in the same socket.
struct Core {
  int core = -1;
  int cache = -1;
  int socket = -1;

  bool operator==(const Core&) const = default;
};

// Of a process that may use the processors `allowed`. All are unknown unless these belong to a single core.
// `system` is the folder of Linux's sysfs.
Core core_of(const Processors& allowed, const std::string& system = "/sys");

}  // namespace hockney
