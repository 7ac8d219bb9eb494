// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace hockney {

// The file by which the front end requests an early end of the launch: it writes something to it.
// The file exists from the beginning and is opened for each check. If another host changes the file, NFS only
// guarantees that a program which opens it sees the change (close-to-open consistency); a new file may remain
// invisible while the folder's attributes are cached, for up to half a minute.
class StopFile {
 public:
  explicit StopFile(std::string path) : path_(std::move(path)) {}

  bool parameters_() const { return !path_.empty(); }

  // Whether the launch is to end. Cheap enough to be called between any two visits, because it rarely opens
  // the file.
  bool is_requested() {
    if (requested_ || !parameters_() || now() - last_check_s_ < interval_s) return requested_;
    last_check_s_ = now();
    if (std::FILE* file = std::fopen(path_.c_str(), "r")) {
      requested_ = std::fgetc(file) != EOF;
      std::fclose(file);
    }
    return requested_;
  }

 private:
  static constexpr double interval_s = 0.1;

  std::string path_;
  double last_check_s_ = -std::numeric_limits<double>::infinity();
  bool requested_ = false;
};

}  // namespace hockney
