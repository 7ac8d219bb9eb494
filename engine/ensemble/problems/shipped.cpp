// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/problems/shipped.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hockney::annealing {
namespace {

std::string names_of(std::string_view kind) {
  std::string names;
  for (const ShippedInstance& instance : shipped_instances())
    if (instance.kind == kind) names += (names.empty() ? "" : ", ") + std::string(instance.name);
  return names;
}

}  // namespace

const ShippedInstance* find_instance(std::string_view name, std::string_view kind) {
  for (const ShippedInstance& instance : shipped_instances())
    if (instance.name == name && instance.kind == kind) return &instance;
  return nullptr;
}

OpenInstance::OpenInstance(const std::string& instance, std::string_view kind, const std::string& format)
    : file_{instance}, name_{instance}, shipped_instance_{find_instance(instance, kind)} {
  if (shipped_instance_ != nullptr) {
    in_ = std::make_unique<std::istringstream>(std::string(shipped_instance_->text));
    return;
  }
  const std::string expected = "a " + format + " file or one of " + names_of(kind);
  std::error_code error;
  if (!std::filesystem::exists(instance, error))
    throw InstanceError("not-found", file_, 0, expected, "no such file");
  if (std::filesystem::is_directory(instance, error))
    throw InstanceError("not-found", file_, 0, expected, "a folder");
  in_ = std::make_unique<std::ifstream>(instance);
  if (!*in_) throw InstanceError("not-found", file_, 0, expected, "a file that cannot be opened");
  name_ = std::filesystem::path(instance).stem().string();
}

}  // namespace hockney::annealing
