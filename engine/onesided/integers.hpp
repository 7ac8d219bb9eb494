// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "base/random.hpp"
#include "onesided/one_sided_base.hpp"

namespace hockney::onesided {

using Integer = std::int64_t;

// Base class of operations on single integers. The operations of an epoch use adjacent integers.
class IntegersBase : public OneSidedBase {
 public:
  IntegersBase(const Place& place, const Values& values)
      : OneSidedBase(place, values, sizeof(Integer), {.outgoing = true, .incoming = true}) {}

  // Each epoch modifies the result of the previous one.
  bool keeps_payload() const override { return false; }

 protected:
  // Integers that depend on the rank: far enough apart to be distinct, and small enough to be added.
  static Integer number(const Payload& payload, int rank, std::size_t index) {
    const std::uint64_t random = mix(
        payload.seed ^ mix((static_cast<std::uint64_t>(rank) << 32U) ^ static_cast<std::uint64_t>(index)));
    return static_cast<Integer>(random >> 24U);
  }

  static void write(std::span<std::byte> to, std::size_t index, Integer value) {
    std::memcpy(to.data() + index * sizeof value, &value, sizeof value);
  }

  static void compare(Check& check, std::span<const std::byte> actual, std::size_t index, Integer expected,
                      const char* description) {
    Integer integer = 0;
    std::memcpy(&integer, actual.data() + index * sizeof integer, sizeof integer);
    check.bytes += sizeof integer;
    if (integer == expected) return;
    ++check.errors;
    if (check.first.empty())
      check.first = std::string(description) + " differs at operation " + std::to_string(index);
  }
};

}  // namespace hockney::onesided
