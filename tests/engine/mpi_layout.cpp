// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Where the blocks of data with gaps are: as MPI's datatype has it and as our own copying does.
#include <gtest/gtest.h>

#include <vector>

#include "datatypes/layout.hpp"

namespace {

using hockney::Values;
using hockney::datatypes::Layout;

Values described(const char* kind, int blocks, int block, int stride) {
  return Values({{"datatype", kind},
                 {"bytes", std::to_string(blocks * block)},
                 {"block", std::to_string(block)},
                 {"stride", std::to_string(stride)}});
}

class OfKind : public ::testing::TestWithParam<const char*> {};

TEST_P(OfKind, MpiAndCopyingByHandFindTheSameBytes) {
  const Layout layout(described(GetParam(), 5, 7, 12));
  std::vector<std::byte> memory(layout.extent());
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i);
  std::vector<std::byte> by_hand(layout.bytes()), by_mpi(layout.bytes());
  layout.gather(memory.data(), by_hand.data());
  int packed = 0;
  MPI_Pack(memory.data(), layout.count(), layout.type(), by_mpi.data(), static_cast<int>(by_mpi.size()),
           &packed, MPI_COMM_SELF);
  EXPECT_EQ(packed, 35);
  EXPECT_EQ(by_hand, by_mpi);
}

TEST_P(OfKind, AGapThatWasOverwrittenIsFoundAndTheDataAreNone) {
  const Layout layout(described(GetParam(), 5, 7, 12));
  std::vector<std::byte> memory(layout.extent(), Layout::gap_pattern);
  const std::vector<std::byte> data(layout.bytes(), std::byte{1});
  layout.scatter(data.data(), memory.data());
  EXPECT_EQ(layout.check_gaps(memory).errors, 0U);
  std::size_t gaps = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] != Layout::gap_pattern) continue;
    ++gaps;
    memory[i] = std::byte{2};
    EXPECT_EQ(layout.check_gaps(memory).errors, 1U) << i;
    memory[i] = Layout::gap_pattern;
  }
  EXPECT_EQ(gaps, layout.extent() - layout.bytes());
}

INSTANTIATE_TEST_SUITE_P(Layouts, OfKind, ::testing::Values("contiguous", "vector", "indexed", "struct"));

}  // namespace
