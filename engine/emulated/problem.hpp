// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace hockney::emulated {

// A feature that this host does not allow, or a part of the network that has ended. `step` is one of the
// words in hockney/machines/emulated/messages.py.
class Problem : public std::runtime_error {
 public:
  Problem(const std::string& step, const std::string& reason) : std::runtime_error(step + ": " + reason) {}
};

inline void require(bool fine, const char* step) {
  if (!fine) throw Problem(step, std::strerror(errno));
}

}  // namespace hockney::emulated
