// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/memory.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t MiB = std::uint64_t{1} << 20;

// A temporary /proc and /sys.
class Memory : public ::testing::Test {
 protected:
  Memory() : root_(fs::path(::testing::TempDir()) / ("hockney-memory-" + std::to_string(getpid()))) {
    write("proc/meminfo", "MemTotal: 16384 kB\nMemAvailable: 8192 kB\n");
  }
  ~Memory() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void group(const fs::path& place, const std::string& limit, std::uint64_t used, std::uint64_t idle) {
    const fs::path folder = fs::path("sys/fs/cgroup") / place;
    write(folder / "memory.max", limit + "\n");
    write(folder / "memory.current", std::to_string(used) + "\n");
    write(folder / "memory.stat", "anon 1\ninactive_file " + std::to_string(idle) + "\nslab 2\n");
  }

  fs::path root_;
};

TEST(Bytes, AreReadable) {
  EXPECT_EQ(hockney::readable_bytes(0), "0 B");
  EXPECT_EQ(hockney::readable_bytes(1023), "1023 B");
  EXPECT_EQ(hockney::readable_bytes(1536), "1.5 KiB");
  EXPECT_EQ(hockney::readable_bytes(20 * MiB), "20 MiB");
  EXPECT_EQ(hockney::readable_bytes(MiB * MiB), "1 TiB");
  EXPECT_EQ(hockney::readable_bytes(5000 * MiB * MiB), "5000 TiB");
}

TEST_F(Memory, IsWhatTheHostHasWithoutALimit) {
  EXPECT_EQ(hockney::available_memory(root_), 8 * MiB);
  group("", "max", MiB, 0);
  EXPECT_EQ(hockney::available_memory(root_), 8 * MiB);
}

TEST_F(Memory, OfAContainerIsItsLimitLessWhatIsHeld) {
  group("", std::to_string(4 * MiB), 3 * MiB, 0);
  EXPECT_EQ(hockney::available_memory(root_), MiB);
}

TEST_F(Memory, InFilesThatNobodyUsesIsFree) {
  group("", std::to_string(4 * MiB), 4 * MiB, 3 * MiB);
  EXPECT_EQ(hockney::available_memory(root_), 3 * MiB);
}

TEST_F(Memory, OfAJobIsTheLeastOnTheWayUpFromItsGroup) {
  write("proc/self/cgroup", "1:name=systemd:/elsewhere\n0::/slice/job/step\n");
  group("slice", std::to_string(6 * MiB), 2 * MiB, 0);
  group("slice/job", std::to_string(2 * MiB), 1 * MiB, 0);
  group("slice/job/step", "max", MiB, 0);
  EXPECT_EQ(hockney::available_memory(root_), MiB);
}

TEST_F(Memory, IsUnlimitedWhereTheSystemDoesNotTell) {
  EXPECT_GT(hockney::available_memory(root_ / "nowhere"), std::uint64_t{1} << 60);
}

}  // namespace
