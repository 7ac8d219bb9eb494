// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bsp/errors.hpp"
#include "bsp/transport.hpp"

namespace hockney::bsp::inline v1 {

// Checks that take time, for one superstep on one process.
class Watch {
 public:
  // The source of an unbuffered put, or the destination of an unbuffered get. Neither may change until sync.
  void add(Call call, const void* memory, std::size_t bytes);
  // Fails if any of them has changed.
  void check_unchanged(const Place& place);
  // Warns, once in a program, if puts of this superstep overlap on this process.
  void check_overlaps(const Place& place, const Incoming& incoming);

 private:
  struct Unbuffered {
    Call call;
    const void* memory;
    std::size_t bytes;
    std::uint64_t sum;
  };
  std::vector<Unbuffered> unbuffered_;
  bool warned_ = false;
};

}  // namespace hockney::bsp::inline v1
