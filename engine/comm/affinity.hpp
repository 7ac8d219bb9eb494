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
inline constexpr int most_processors = 16384;
using Processors = std::array<unsigned char, most_processors / 8>;

// The processors that this process may use; none if unknown, and in a simulation.
std::optional<Processors> affinity();

int count(const Processors& processors);

// -1 if there is none.
int lowest(const Processors& processors);

bool includes(const Processors& all, const Processors& some);

// As a list, "0" or "0-3,8".
std::string list_of(const Processors& processors);

// The inverse; nothing if `list` is empty, or not such a list.
std::optional<Processors> listed(std::string_view list);

}  // namespace hockney
