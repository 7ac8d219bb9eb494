// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace hockney {

// Through this file the front end requests that the launch ends early: the file is no longer empty.
//
// It exists from the beginning and is opened at each look: if another host changes it, NFS guarantees only to
// a program that opens the file that it sees the change (close-to-open consistency), whereas a new file may
// stay invisible for as long as the folder's attributes are cached, half a minute.
class StopFile {
 public:
  explicit StopFile(std::string path) : path_(std::move(path)) {}

  bool given() const { return !path_.empty(); }

  // Whether the launch is to end. Cheap enough to be called between any two visits: it seldom opens the file.
  bool requested() {
    if (requested_ || !given() || now() - looked_s_ < interval_s) return requested_;
    looked_s_ = now();
    if (std::FILE* file = std::fopen(path_.c_str(), "r")) {
      requested_ = std::fgetc(file) != EOF;
      std::fclose(file);
    }
    return requested_;
  }

 private:
  static constexpr double interval_s = 0.1;

  std::string path_;
  double looked_s_ = -std::numeric_limits<double>::infinity();
  bool requested_ = false;
};

}  // namespace hockney
