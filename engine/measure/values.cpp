// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/values.hpp"

#include "base/words.hpp"

namespace hockney {

std::int64_t Values::integer(const std::string& name) const {
  return to_integer(words_.at(name), name);
}

double Values::real(const std::string& name) const {
  return to_real(words_.at(name), name);
}

}  // namespace hockney
