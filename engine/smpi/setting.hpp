// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace hockney::smpi {

// A number that the launcher puts into the environment, the
// same for all ranks; `otherwise` where it is not there.
inline double setting(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text && *text ? std::strtod(text, nullptr) : otherwise;
}

}  // namespace hockney::smpi
