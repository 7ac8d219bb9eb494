// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <memory>
#include <string>

#include "hockney/annealing/instance.hpp"

namespace hockney::annealing {

// An instance that comes with the library, by name, otherwise a file, by path. Throws InstanceError if there
// is neither.
class OpenInstance final {
 public:
  OpenInstance(const std::string& instance, std::string_view kind, const std::string& format);

  [[nodiscard]] std::istream& in() const { return *in_; }
  // For messages.
  [[nodiscard]] const std::string& file() const { return file_; }
  // Without folders and extension.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ShippedInstance* shipped() const { return shipped_; }

 private:
  std::string file_;
  std::string name_;
  const ShippedInstance* shipped_;
  std::unique_ptr<std::istream> in_;
};

}  // namespace hockney::annealing
