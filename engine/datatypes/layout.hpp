// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/invalid_case.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::datatypes {

inline constexpr Parameter datatype{
    "datatype",
    Kind::choice,
    "",
    "vector",
    0,
    0,
    "contiguous|vector|indexed|struct",
    "contiguous: no gaps; vector: one block per stride; indexed: the same, with every second block at the "
    "end of its stride; struct: half of each block at the beginning of its stride and half at the end"};

inline constexpr Parameter block{"block", Kind::integer, "B", "8", 1, 1e9, "", "bytes in a block"};

inline constexpr Parameter stride{
    "stride", Kind::integer, "B", "16", 1, 1e9, "", "bytes from the start of one stride to the next"};

// The layout of a message in memory, and the datatype that describes it. A message consists of whole blocks.
class Layout {
 public:
  // Throws InvalidCase on all ranks.
  explicit Layout(const Values& values)
      : kind_(values.word("datatype")),
        block_(static_cast<std::size_t>(values.integer("block"))),
        stride_(kind_ == "contiguous" ? block_ : static_cast<std::size_t>(values.integer("stride"))),
        blocks_(blocks_of(values, block_, stride_)) {
    make();
  }
  ~Layout() { MPI_Type_free(&type_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  // A whole message is one element; an empty message has none.
  MPI_Datatype type() const { return type_; }
  int count() const { return blocks_ > 0 ? 1 : 0; }
  std::size_t bytes() const { return blocks_ * block_; }
  // Size in memory, including the gaps.
  std::size_t extent() const { return blocks_ * stride_; }

  // Copies the data from their positions in memory into contiguous memory, and back.
  void gather(const std::byte* from, std::byte* to) const {
    pieces([&](std::size_t position, std::size_t packed, std::size_t bytes) {
      std::memcpy(to + packed, from + position, bytes);
    });
  }
  void scatter(const std::byte* from, std::byte* to) const {
    pieces([&](std::size_t position, std::size_t packed, std::size_t bytes) {
      std::memcpy(to + position, from + packed, bytes);
    });
  }

  // The gaps, which must stay unchanged.
  static constexpr std::byte gap_pattern{0x3C};
  Check check_gaps(std::span<const std::byte> memory) const {
    Check check;
    std::size_t next = 0;
    const auto check_gap = [&](std::size_t end) {
      for (std::size_t index = next; index < end; ++index)
        if (memory[index] != gap_pattern && check.errors++ == 0)
          check.first = "a gap was overwritten at byte " + std::to_string(index);
    };
    pieces([&](std::size_t position, std::size_t, std::size_t bytes) {
      check_gap(position);
      next = position + bytes;
    });
    check_gap(extent());
    return check;
  }

 private:
  // The number of blocks in a message. Throws InvalidCase if the sizes are inconsistent.
  static std::size_t blocks_of(const Values& values, std::size_t block, std::size_t stride) {
    const std::uint64_t bytes = values.bytes();
    if (stride < block)
      throw InvalidCase("stride=" + std::to_string(stride) + " is less than block=" + std::to_string(block));
    if (bytes % block != 0)
      throw InvalidCase("bytes=" + std::to_string(bytes) +
                        " is no multiple of block=" + std::to_string(block));
    if (bytes / block > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(bytes) + " has more blocks than an MPI count can hold");
    return bytes / block;
  }

  // Calls `visit` for each piece: position in memory, position in contiguous memory, number of bytes.
  template <class Each>
  void pieces(Each visit) const {
    if (kind_ == "struct") {
      const std::size_t first = block_ / 2, second = block_ - first;
      for (std::size_t i = 0; i < blocks_; ++i) {
        visit(i * stride_, i * block_, first);
        visit((i + 1) * stride_ - second, i * block_ + first, second);
      }
    } else if (kind_ == "indexed") {
      for (std::size_t i = 0; i < blocks_; ++i) visit(shifted(i), i * block_, block_);
    } else {
      for (std::size_t i = 0; i < blocks_; ++i) visit(i * stride_, i * block_, block_);
    }
  }
  std::size_t shifted(std::size_t index) const {
    return index * stride_ + (index % 2 ? stride_ - block_ : 0);
  }

  void make() {
    const int blocks = std::max(static_cast<int>(blocks_), 1), block = static_cast<int>(block_);
    const auto stride = static_cast<MPI_Aint>(stride_);
    if (kind_ == "vector") {
      MPI_Type_create_hvector(blocks, block, stride, MPI_BYTE, &type_);
    } else if (kind_ == "contiguous") {
      MPI_Datatype one;
      MPI_Type_contiguous(block, MPI_BYTE, &one);
      MPI_Type_contiguous(blocks, one, &type_);
      MPI_Type_free(&one);
    } else if (kind_ == "indexed") {
      std::vector<MPI_Aint> places(static_cast<std::size_t>(blocks));
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<MPI_Aint>(shifted(i));
      MPI_Type_create_hindexed_block(blocks, block, places.data(), MPI_BYTE, &type_);
    } else {
      make_struct(blocks, block, stride);
    }
    MPI_Type_commit(&type_);
  }

  void make_struct(int blocks, int block, MPI_Aint stride) {
    const int lengths[] = {block / 2, block - block / 2};
    const MPI_Aint places[] = {0, stride - lengths[1]};
    const MPI_Datatype types[] = {MPI_BYTE, MPI_BYTE};
    MPI_Datatype struct_type, element;
    MPI_Type_create_struct(2, lengths, places, types, &struct_type);
    MPI_Type_create_resized(struct_type, 0, stride, &element);
    MPI_Type_contiguous(blocks, element, &type_);
    MPI_Type_free(&struct_type);
    MPI_Type_free(&element);
  }

  const std::string kind_;
  const std::size_t block_;
  const std::size_t stride_;
  const std::size_t blocks_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace hockney::datatypes
