// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hockney {

std::vector<std::string> split_words(std::string_view line);

// Parses "NAME=VALUE" words into a map. Rejects words without '=', empty names or values, and duplicate
// names.
std::map<std::string, std::string> named_words(const std::vector<std::string>& words, std::size_t first);

// Parses the whole text as a finite number; rejects anything else. `what` names it in the message.
double to_real(std::string_view text, std::string_view what);
std::int64_t to_integer(std::string_view text, std::string_view what);

}  // namespace hockney
