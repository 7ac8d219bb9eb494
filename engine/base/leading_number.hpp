// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string_view>

namespace hockney {

// Removes the integer at the start of `text` and returns it. Returns nothing if `text` does not start with an
// integer, or it does not fit an int.
inline std::optional<int> take_leading_number(std::string_view& text) {
  const bool is_negative = text.starts_with('-');
  std::size_t end = is_negative ? 1 : 0;
  const std::size_t first = end;
  long long value = 0;
  for (; end < text.size() && text[end] >= '0' && text[end] <= '9'; ++end) {
    value = 10 * value + (text[end] - '0');
    if (value > std::numeric_limits<int>::max()) return std::nullopt;
  }
  if (end == first) return std::nullopt;
  text.remove_prefix(end);
  return static_cast<int>(is_negative ? -value : value);
}

}  // namespace hockney
