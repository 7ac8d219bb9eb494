// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Processors of invented machines, as trees of files like those of Linux's sysfs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "comm/topology.hpp"

namespace {

using namespace hockney;

class Topology : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::temp_directory_path() /
            ("hockney-topology-" + std::to_string(getpid()) + "-" + test->name());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(int cpu, const std::string& file, const std::string& text) const {
    const auto path = root_ / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void add_cpu(int cpu, const std::string& threads, int socket) const {
    write(cpu, "topology/core_cpus_list", threads);
    write(cpu, "topology/thread_siblings_list", threads);
    write(cpu, "topology/physical_package_id", std::to_string(socket));
  }
  void add_cache(int cpu, int index, int level, const std::string& sharing) const {
    const std::string folder = "cache/index" + std::to_string(index);
    write(cpu, folder + "/level", std::to_string(level));
    write(cpu, folder + "/shared_cpu_list", sharing);
  }
  // Two sockets of 4 cores with 2 threads each; cpu N and N + 8 are one core. `l3` is the number of cores
  // that share a cache of level 3; 0: there is none.
  void add_two_sockets(int l3) const {
    for (int cpu = 0; cpu < 16; ++cpu) {
      const int core = cpu % 8;
      const std::string threads = std::to_string(core) + "," + std::to_string(core + 8);
      add_cpu(cpu, threads, core / 4);
      add_cache(cpu, 0, 1, threads);
      add_cache(cpu, 1, 1, threads);
      add_cache(cpu, 2, 2, threads);
      if (!l3) continue;
      const int first = core / l3 * l3;
      const std::string cores = std::to_string(first) + "-" + std::to_string(first + l3 - 1);
      const std::string others = std::to_string(first + 8) + "-" + std::to_string(first + 8 + l3 - 1);
      add_cache(cpu, 3, 3, cores + "," + others);
    }
  }
  Core core(const std::string& allowed) const {
    return core_of(parse_list(allowed).value_or(Processors{}), root_.string());
  }

 private:
  std::filesystem::path root_;
};

TEST_F(Topology, NamesCoresAndCachesAfterTheirLowestProcessors) {
  add_two_sockets(4);
  EXPECT_EQ(core("0"), (Core{0, 0, 0}));
  EXPECT_EQ(core("8"), (Core{0, 0, 0}));
  EXPECT_EQ(core("3,11"), (Core{3, 0, 0}));
  EXPECT_EQ(core("15"), (Core{7, 4, 1}));
}

TEST_F(Topology, TellsSeveralCachesOfASocketApart) {
  add_two_sockets(2);
  EXPECT_EQ(core("1"), (Core{1, 0, 0}));
  EXPECT_EQ(core("2"), (Core{2, 2, 0}));
  EXPECT_EQ(core("14"), (Core{6, 6, 1}));
}

TEST_F(Topology, TakesTheLastLevelThatThereIs) {
  add_two_sockets(0);
  EXPECT_EQ(core("5"), (Core{5, 5, 1}));
}

TEST_F(Topology, KnowsNothingOfARankThatMayUseSeveralCores) {
  add_two_sockets(4);
  for (const char* allowed : {"0-1", "0-15", "0,9", "3-4", ""}) EXPECT_EQ(core(allowed), Core{}) << allowed;
}

TEST_F(Topology, HasNoCacheWhereTheSystemNamesNone) {
  add_cpu(0, "0", 0);
  add_cpu(1, "1", 0);
  EXPECT_EQ(core("1"), (Core{1, -1, 0}));
  add_cache(1, 0, 1, "1");  // belongs to the core
  EXPECT_EQ(core("1"), (Core{1, -1, 0}));
}

TEST_F(Topology, PutsProcessorsThatShareACacheIntoOneSocket) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    add_cpu(cpu, std::to_string(cpu), cpu);
    add_cache(cpu, 0, 3, "0-3");
  }
  for (const char* cpu : {"0", "1", "2", "3"}) EXPECT_EQ(core(cpu).socket, 0);
}

TEST_F(Topology, DoesNotRequireACompleteTree) {
  EXPECT_EQ(core("0"), Core{});  // no sysfs at all
  write(0, "topology/physical_package_id", "-1");
  EXPECT_EQ(core("0"), Core{});
  write(0, "topology/thread_siblings_list", "0");  // the old name
  EXPECT_EQ(core("0"), (Core{0, -1, -1}));
  write(0, "topology/core_cpus_list", "what");
  write(0, "cache/index0/level", "3");
  EXPECT_EQ(core("0"), (Core{0, -1, -1}));
  write(0, "cache/index0/shared_cpu_list", "1-3");  // not even itself
  EXPECT_EQ(core("0"), (Core{0, -1, -1}));
}

TEST_F(Topology, IsReadOnThisSystem) {
  const auto mine = affinity();
  if (!mine || !std::filesystem::exists("/sys/devices/system/cpu/cpu0/topology")) GTEST_SKIP();
  Processors one{};
  one[static_cast<std::size_t>(lowest_processor(*mine)) / 8] =
      static_cast<unsigned char>(1 << lowest_processor(*mine) % 8);
  const Core found = core_of(one);
  EXPECT_GE(found.core, 0);
  EXPECT_LE(found.core, lowest_processor(*mine));
}

}  // namespace
