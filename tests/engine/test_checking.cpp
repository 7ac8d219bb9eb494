// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "measure/checking.hpp"

namespace hockney {
namespace {

std::vector<std::byte> memory(std::size_t bytes) {
  return std::vector<std::byte>(bytes, std::byte{0x5A});
}

// The beginning and end of the part that `payload` writes.
std::pair<std::size_t, std::size_t> written(std::size_t bytes, const Payload& payload) {
  std::vector<std::byte> place = memory(bytes);
  spoil(place, payload);
  std::size_t first = 0;
  while (first < bytes && place[first] == std::byte{0x5A}) ++first;
  std::size_t end = bytes;
  while (end > first && place[end - 1] == std::byte{0x5A}) --end;
  return {first, end};
}

TEST(Checking, TakesTheWholeOfAShortMessage) {
  for (const std::size_t bytes : {0, 1, 7, 64, 100}) {
    const Payload payload{.seed = 1, .max_bytes = 100};
    std::vector<std::byte> message = memory(bytes);
    write_bytes(message, payload, 3);
    const Check found = check_bytes(message, payload, 3, "it");
    EXPECT_EQ(found.errors, 0u);
    EXPECT_EQ(found.bytes, bytes);
  }
}

TEST(Checking, TakesAPartOfALongOneAndEachPlaceInTurn) {
  std::set<std::size_t> places;
  bool last_byte = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Payload payload{.seed = seed, .max_bytes = 64};
    std::vector<std::byte> message = memory(103);
    write_bytes(message, payload, 3);
    const Check found = check_bytes(message, payload, 3, "it");
    EXPECT_EQ(found.errors, 0u) << seed;
    const auto [first, end] = written(103, payload);
    EXPECT_EQ(first % 8, 0u);
    EXPECT_EQ(found.bytes, end - first);
    EXPECT_GE(end - first, 64u);
    places.insert(first);
    last_byte = last_byte || end == 103;
  }
  EXPECT_EQ(places, (std::set<std::size_t>{0, 8, 16, 24, 32}));
  EXPECT_TRUE(last_byte);
}

TEST(Checking, FindsEachFlippedByteOfThePart) {
  const Payload payload{.seed = 5, .max_bytes = 64};
  const auto [first, end] = written(103, payload);
  for (std::size_t at = 0; at < 103; ++at) {
    std::vector<std::byte> message = memory(103);
    write_bytes(message, payload, 3);
    message[at] ^= std::byte{16};
    const Check found = check_bytes(message, payload, 3, "it");
    EXPECT_EQ(found.errors, at >= first && at < end ? 1u : 0u) << at;
    if (found.errors) EXPECT_EQ(found.first, "it differs at byte " + std::to_string(at) + " of 103");
  }
}

TEST(Checking, FindsWhatWasNotReceived) {
  for (const std::size_t bytes : {1, 64, 103}) {
    const Payload payload{.seed = 5, .max_bytes = 64};
    std::vector<std::byte> message = memory(bytes);
    write_bytes(message, payload, 3);
    spoil(message, payload);
    EXPECT_EQ(check_bytes(message, payload, 3, "it").errors, 1u);
  }
}

TEST(Checking, SumsArePartlyComparedAndWhollyWritten) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Payload payload{.seed = seed, .max_bytes = 64};
    std::vector<std::byte> sum = memory(800);
    write_reduction(sum, seed, 1);  // of the second rank: twice the elements
    const Check found = check_reduced(sum, payload, 0, 2, "it");
    EXPECT_EQ(found.errors, 0u);
    EXPECT_EQ(found.bytes, 64u);
    EXPECT_EQ(check_reduced(sum, {.seed = seed}, 0, 2, "it").bytes, 800u);
    EXPECT_EQ(check_reduced(sum, {.seed = seed}, 0, 2, "it").errors, 0u);
    EXPECT_EQ(check_reduced(sum, payload, 1, 2, "it").errors, 1u);
  }
}

TEST(Checking, MessagesThatShareAPayloadHaveAPartEach) {
  const Payload payload{.seed = 5, .max_bytes = 96};
  EXPECT_EQ(payload.divided_among(3).max_bytes, 32u);
  EXPECT_EQ(payload.divided_among(1000).max_bytes, 0u);
  const auto [first, end] = written(103, payload.divided_among(1000));
  EXPECT_EQ(end - first, 8u);  // a word at least
}

}  // namespace
}  // namespace hockney
