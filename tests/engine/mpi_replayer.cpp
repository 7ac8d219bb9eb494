// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// The steps of a replay on ranks that cannot read the file: rank 0 sends them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "replayer/steps.hpp"

namespace {

using namespace hockney;
using replayer::Header;
using replayer::Step;

// Rank r has r + 1 steps, each a computation of r seconds.
std::string written_steps(int ranks) {
  Header header{.ranks = static_cast<std::uint64_t>(ranks), .communicators = 0, .members = 0, .places = 1};
  std::memcpy(header.name, replayer::name, sizeof header.name);
  std::vector<std::uint64_t> first{0};
  std::vector<double> tails;
  std::vector<Step> steps;
  for (int rank = 0; rank < ranks; ++rank) {
    for (int i = 0; i <= rank; ++i)
      steps.push_back({.kind = replayer::compute, .seconds = static_cast<float>(rank)});
    first.push_back(steps.size());
    tails.push_back(0.5 * rank);
  }
  const std::string path = ::testing::TempDir() + "hockney-steps-" + std::to_string(getpid());
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const auto* data, std::size_t count) {
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(count * sizeof *data));
  };
  write(&header, 1);
  write(first.data(), first.size());
  write(tails.data(), tails.size());
  write(steps.data(), steps.size());
  return path;
}

TEST(Steps, RankZeroSendsThemToThoseThatCannotReadTheFile) {
  const Comm world = Comm::view(MPI_COMM_WORLD);
  std::string path = "/nonexistent/steps";
  if (world.root()) path = written_steps(world.size);
  const replayer::Steps own = replayer::read_steps(path, world, 0);
  if (world.root()) std::remove(path.c_str());
  ASSERT_EQ(own.steps.size(), static_cast<std::size_t>(world.rank + 1));
  for (const Step& step : own.steps) EXPECT_EQ(step.seconds, static_cast<float>(world.rank));
  EXPECT_EQ(own.tail_s, 0.5 * world.rank);
}

}  // namespace
