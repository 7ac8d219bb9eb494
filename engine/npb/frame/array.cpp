// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/frame/array.hpp"

#include <string>

#include "base/invalid_case.hpp"
#include "base/memory.hpp"

namespace hockney::npb {

void require_memory(std::size_t bytes, int ranks_on_host) {
  // Every host has at least this much memory.
  constexpr std::size_t unchecked_bytes = std::size_t{64} << 20;
  const auto ranks = static_cast<std::size_t>(ranks_on_host);
  if (bytes <= unchecked_bytes / ranks || bytes <= available_memory() / ranks / 10 * 9) return;
  throw OutOfMemory("the " + readable_bytes(bytes) + " that each of " + std::to_string(ranks_on_host) +
                    " ranks needs do not fit into this host's memory");
}

}  // namespace hockney::npb
