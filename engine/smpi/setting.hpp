// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace hockney::smpi {

// A number from the environment, set by the launcher for all ranks alike; `fallback` if it is not set.
inline double setting(const char* name, double fallback) {
  const char* const text = std::getenv(name);
  return text && *text ? std::strtod(text, nullptr) : fallback;
}

}  // namespace hockney::smpi
