// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Of the messages on a communicator that in a simulator is the program's, so they are unusual.
namespace hockney::bsp::inline v1::tags {

inline constexpr int headers = 7301;
inline constexpr int more_headers = 7302;
inline constexpr int sizes = 7303;
inline constexpr int packet = 7304;
inline constexpr int reply = 7305;
inline constexpr int apart_put = 7306;
inline constexpr int apart_get = 7307;

}  // namespace hockney::bsp::inline v1::tags
