// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/frame/array.hpp"

#include <string>

#include "base/invalid_case.hpp"
#include "base/memory.hpp"

namespace hockney::npb {

void need_memory(std::size_t bytes, int sharing) {
  // Every host has a little.
  constexpr std::size_t surely_there = std::size_t{64} << 20;
  const auto ranks = static_cast<std::size_t>(sharing);
  if (bytes <= surely_there / ranks || bytes <= available_memory() / ranks / 10 * 9) return;
  throw OutOfMemory("the " + readable_bytes(bytes) + " that each of " + std::to_string(sharing) +
                    " ranks needs do not fit into this host's memory");
}

}  // namespace hockney::npb
