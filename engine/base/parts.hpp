// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace hockney {

// A range of 0 to n - 1.
struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t size() const { return end - begin; }
};

// Part number `part` when n is divided into `parts` parts, as evenly as possible.
inline Range part_of(std::size_t n, std::size_t parts, std::size_t part) {
  return {n * part / parts, n * (part + 1) / parts};
}

}  // namespace hockney
