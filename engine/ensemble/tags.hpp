// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hockney::annealing {

// Message tags, different from those of Comm's functions on the same communicator.
inline constexpr int statistics_tag = 1;
inline constexpr int schedule_tag = 2;
inline constexpr int walker_tag = 3;

}  // namespace hockney::annealing
