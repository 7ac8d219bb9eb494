// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace hockney {

// A set of processors, one bit each. More bits than any Linux kernel supports (8192), and the same size
// everywhere, so that the sets of several ranks can be combined.
inline constexpr int max_processors = 16384;
using Processors = std::array<unsigned char, max_processors / 8>;

// The processors that this process may use; none if unknown, and in a simulation.
std::optional<Processors> affinity();

int count(const Processors& processors);

// The lowest processor number; -1 if the set is empty.
int lowest_processor(const Processors& processors);

bool includes(const Processors& set, const Processors& subset);

// Formats the set as a list such as "0" or "0-3,8".
std::string to_list(const Processors& processors);

// Parses such a list; returns nothing if `list` is empty or malformed.
std::optional<Processors> parse_list(std::string_view list);

}  // namespace hockney
