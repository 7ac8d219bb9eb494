// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hockney {

enum class Kind { integer, real, choice, text };

// One parameter of a workload, as the catalog shows it. `choices` are separated by '|'; of a
// text they are its forms, which whoever reads the text checks.
struct Parameter {
  const char* name;
  Kind kind;
  const char* unit;
  const char* standard;  // the default, as text
  double low;
  double high;
  const char* choices;
  const char* help;
};

// The parameters of one case, checked: every one of the workload's is there and in range.
class Values {
 public:
  explicit Values(std::map<std::string, std::string> words) : words_(std::move(words)) {}

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(integer("bytes")); }
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
  const std::string& word(const std::string& name) const { return words_.at(name); }
  bool has(const std::string& name) const { return words_.contains(name); }

 private:
  std::map<std::string, std::string> words_;
};

}  // namespace hockney
