// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <climits>
#include <set>

#include "base/invalid_case.hpp"
#include "base/memory.hpp"
#include "measure/buffer.hpp"

namespace {

using hockney::Arena;
using hockney::Buffer;
using hockney::IncomingBuffer;

TEST(Buffer, HotIsOnePlace) {
  Arena arena(1);
  Buffer buffer(arena, 100, "hot");
  std::byte* const place = buffer.next();
  EXPECT_EQ(buffer.next(), place);
  EXPECT_EQ(buffer.upcoming().data(), place);
  EXPECT_EQ(buffer.current().size(), 100u);
}

TEST(Buffer, ColdWalksThroughTwiceTheCacheAndComesBack) {
  Arena arena(2);
  Buffer buffer(arena, 64 << 10, "cold");
  EXPECT_GE(buffer.slots() * (64 << 10) * 2, 2 * hockney::last_level_cache() - (128 << 10));
  std::set<std::byte*> seen;
  std::byte* const first = buffer.next();
  seen.insert(first);
  for (std::size_t i = 1; i < buffer.slots(); ++i) seen.insert(buffer.next());
  EXPECT_EQ(seen.size(), buffer.slots());
  EXPECT_EQ(buffer.next(), first);
}

TEST(Buffer, WrittenKeepsItsBytesAndStaysWithinACoresCache) {
  Arena arena(2);
  EXPECT_EQ(arena.max_runs(), INT_MAX);
  for (const std::size_t bytes : {0, 1, 8, 64, 100, 2000, 4096, 70000, 1 << 20}) {
    Buffer sent(arena, bytes, "written");
    IncomingBuffer received(arena, bytes, "written");
    const Buffer hot(arena, 8, "hot");
    EXPECT_EQ(arena.max_runs(), static_cast<int>(sent.slots()));
    EXPECT_EQ(received.slots(), sent.slots());
    EXPECT_LE((sent.slots() - 1) * bytes, std::size_t{128} << 10);
    for (Buffer* each : {&sent, static_cast<Buffer*>(&received)}) {
      each->next();
      unsigned value = 0;
      for (std::byte& byte : each->upcoming()) byte = static_cast<std::byte>(++value * 7);
      arena.renew(arena.max_runs());
      value = 0;
      for (const std::byte& byte : each->upcoming()) ASSERT_EQ(byte, static_cast<std::byte>(++value * 7));
    }
  }
  EXPECT_EQ(arena.max_runs(), INT_MAX);
}

TEST(Buffer, WhatIsFilledIsWhatTheNextRunTakes) {
  Arena arena(8);
  Buffer buffer(arena, 4096, "cold");
  buffer.next();
  std::byte* const upcoming = buffer.upcoming().data();
  EXPECT_EQ(buffer.next(), upcoming);
  EXPECT_EQ(buffer.current().data(), upcoming);
}

TEST(Arena, GivesTheSameMemoryAgain) {
  Arena arena(1);
  std::byte* first = nullptr;
  {
    Buffer buffer(arena, 1 << 20, "hot");
    first = buffer.next();
  }
  Buffer again(arena, 1000, "hot");
  EXPECT_EQ(again.next(), first);
  Buffer other(arena, 1000, "hot");
  EXPECT_NE(other.next(), first);
}

TEST(Arena, RefusesMoreThanThereIs) {
  Arena arena(1);
  EXPECT_THROW(arena.take(std::size_t{1} << 50), hockney::OutOfMemory);
}

}  // namespace
