// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace hockney::emulated {

// What this host does not allow: `step` is one of the words in hockney/machines/emulated/messages.py. Or the
// part of the network that ended.
class Problem : public std::runtime_error {
 public:
  Problem(const std::string& step, const std::string& reason) : std::runtime_error(step + ": " + reason) {}
};

inline void require(bool fine, const char* step) {
  if (!fine) throw Problem(step, std::strerror(errno));
}

}  // namespace hockney::emulated
