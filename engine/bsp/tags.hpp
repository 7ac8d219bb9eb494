// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tags of messages on a communicator. In a simulator it is the program's communicator, so the tags are
// unusual.
namespace hockney::bsp::inline v1::tags {

inline constexpr int headers = 7301;
inline constexpr int additional_headers = 7302;
inline constexpr int sizes = 7303;
inline constexpr int packet = 7304;
inline constexpr int reply = 7305;
inline constexpr int separate_put = 7306;
inline constexpr int separate_get = 7307;

}  // namespace hockney::bsp::inline v1::tags
