// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hockney {

enum class Kind { integer, real, choice, text };

// One parameter of a workload, as listed in the catalog. `choices` are separated by '|'; for a text parameter
// they are its forms, which are checked by the code that parses the text. `multiple_of` may be a number that
// must divide the value, the name of a parameter with this number, or the name of a parameter that names a
// workload, whose parameter of the same name has the condition. The front end checks the condition before
// anything starts.
struct Parameter {
  const char* name;
  Kind kind;
  const char* unit;
  const char* standard;  // default, as text
  double low;
  double high;
  const char* choices;
  const char* help;
  const char* multiple_of = "";
};

// The parameters of one case, checked: all of the workload's are present and in range.
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
