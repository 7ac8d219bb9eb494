// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <memory>
#include <string>

#include "hockney/annealing/instance.hpp"

namespace hockney::annealing {

// Opens an instance that comes with the library, by name, or a file, by path. Throws InstanceError if neither
// exists.
class OpenInstance final {
 public:
  OpenInstance(const std::string& instance, std::string_view kind, const std::string& format);

  [[nodiscard]] std::istream& in() const { return *in_; }
  // Used in messages.
  [[nodiscard]] const std::string& file() const { return file_; }
  // Excludes folders and extension.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ShippedInstance* shipped_instance() const { return shipped_instance_; }

 private:
  std::string file_;
  std::string name_;
  const ShippedInstance* shipped_instance_;
  std::unique_ptr<std::istream> in_;
};

}  // namespace hockney::annealing
