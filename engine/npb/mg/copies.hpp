// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "npb/mg/block.hpp"

// Copies rows and planes of a block, within the block and to and from messages.
namespace hockney::npb {

// Copies row j of every plane. Message: n x planes.
inline void mg_pack_row(const MgBlock& block, const double* a, std::ptrdiff_t j, double* message) {
  for (std::ptrdiff_t k = 0; k < block.planes(); ++k)
    message = std::copy_n(a + block.at(j, k), block.n, message);
}
inline void mg_unpack_row(const MgBlock& block, const double* message, std::ptrdiff_t j, double* a) {
  for (std::ptrdiff_t k = 0; k < block.planes(); ++k, message += block.n)
    std::copy_n(message, block.n, a + block.at(j, k));
}

// Copies all of the block's own rows. Message: n x rows x planes.
inline void mg_pack(const MgBlock& block, const double* a, double* message) {
  for (std::ptrdiff_t k = 0; k < block.planes(); ++k)
    for (std::ptrdiff_t j = 0; j < block.rows(); ++j)
      message = std::copy_n(a + block.at(j, k), block.n, message);
}
// Copies into an array of the whole level. Returns the end of the message.
inline const double* mg_unpack(const MgBlock& part, const double* message, const MgBlock& whole, double* a) {
  for (std::size_t z = part.z.begin; z < part.z.end; ++z)
    for (std::size_t y = part.y.begin; y < part.y.end; ++y, message += part.n)
      std::copy_n(message, part.n,
                  a + whole.at(static_cast<std::ptrdiff_t>(y), static_cast<std::ptrdiff_t>(z)));
  return message;
}

// Fill the rows around a block with all rows, and the planes around a block with all planes: the grid is
// periodic.
inline void mg_wrap_rows(const MgBlock& block, double* a) {
  for (std::ptrdiff_t k = 0; k < block.planes(); ++k) {
    std::copy_n(a + block.at(block.rows() - 1, k), block.n, a + block.at(-1, k));
    std::copy_n(a + block.at(0, k), block.n, a + block.at(block.rows(), k));
  }
}
inline void mg_wrap_planes(const MgBlock& block, double* a) {
  std::copy_n(a + block.at(-1, block.planes() - 1), block.plane(), a + block.at(-1, -1));
  std::copy_n(a + block.at(-1, 0), block.plane(), a + block.at(-1, block.planes()));
}

}  // namespace hockney::npb
