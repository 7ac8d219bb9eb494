// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "app/heap.hpp"

#if defined(__GLIBC__)
#include <malloc.h>

#include <cstdlib>
#include <memory>

namespace {

std::size_t mappings_of(std::size_t bytes) {
  const std::size_t before = mallinfo2().hblks;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(bytes), &std::free);
  return mallinfo2().hblks - before;
}

// Memory that is mapped for one allocation is returned to the system when it is freed.
TEST(Heap, TemporaryBuffersAreNotMappedFromTheFirstOneOn) {
  hockney::keep_freed_memory();
  EXPECT_EQ(mappings_of(1 << 20), 0U);
  EXPECT_EQ(mappings_of(16 << 20), 0U);
}

}  // namespace
#endif
