// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/payload.hpp"

namespace {

std::vector<std::byte> payload(std::size_t size, std::uint64_t seed, std::uint64_t source) {
  std::vector<std::byte> bytes(size);
  hockney::write_payload(bytes, seed, source);
  return bytes;
}

TEST(Payload, IsRecognised) {
  for (const std::size_t size : {0, 1, 7, 8, 9, 4096, 4099})
    EXPECT_FALSE(hockney::check_payload(payload(size, 1, 2), 1, 2)) << size;
}

TEST(Payload, EveryFlippedByteIsFoundWhereItIs) {
  for (std::size_t at = 0; at < 19; ++at) {
    std::vector<std::byte> bytes = payload(19, 1, 2);
    bytes[at] ^= std::byte{1};
    EXPECT_EQ(hockney::check_payload(bytes, 1, 2), at);
  }
}

TEST(Payload, OfAnotherRankOrRepetitionIsNotTaken) {
  EXPECT_TRUE(hockney::check_payload(payload(64, 1, 2), 1, 3));
  EXPECT_TRUE(hockney::check_payload(payload(64, 1, 2), 2, 2));
}

TEST(Payload, MovedByAWordIsFound) {
  std::vector<std::byte> bytes = payload(72, 1, 2);
  bytes.erase(bytes.begin(), bytes.begin() + 8);
  EXPECT_EQ(hockney::check_payload(bytes, 1, 2), 0u);
}

TEST(Payload, APartIsThatOfTheWhole) {
  const std::vector<std::byte> whole = payload(99, 1, 2);
  std::vector<std::byte> part(whole.begin() + 40, whole.end());
  EXPECT_FALSE(hockney::check_payload(part, 1, 2, 5));
  EXPECT_TRUE(hockney::check_payload(part, 1, 2, 4));
  std::vector<std::byte> written(59);
  hockney::write_payload(written, 1, 2, 5);
  EXPECT_EQ(written, part);
}

TEST(Payload, ReductionElementsAreSmallWholeNumbersThatDiffer) {
  bool differ = false;
  for (std::size_t i = 0; i < 1000; ++i) {
    const double element = hockney::reduction_element(5, i);
    EXPECT_GE(element, 0);
    EXPECT_LT(element, 1024);
    EXPECT_EQ(element, static_cast<double>(static_cast<int>(element)));
    differ = differ || element != hockney::reduction_element(5, 0);
  }
  EXPECT_TRUE(differ);
}

}  // namespace
