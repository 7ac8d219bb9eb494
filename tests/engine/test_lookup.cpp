// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "app/lookup.hpp"
#include "base/invalid_case.hpp"
#include "base/words.hpp"

namespace {

using hockney::InvalidCase;

hockney::Case find(const char* line, int ranks) {
  return hockney::look_up(hockney::split_words(line), ranks);
}

TEST(LookUp, FillsInDefaultsInAlphabeticalOrder) {
  EXPECT_EQ(find("pingpong", 2).line, "pingpong buffers=hot bytes=8 ranks=2");
  EXPECT_EQ(find("bcast sync=window bytes=1024", 3).line,
            "bcast algorithm=mpi buffers=hot bytes=1024 ranks=3 root=0 sync=window");
}

TEST(LookUp, IsItsOwnInverse) {
  for (const hockney::WorkloadInfo* workload : hockney::all_workloads()) {
    const std::string line = find(workload->name, workload->min_ranks).line;
    EXPECT_EQ(find(line.c_str(), workload->min_ranks).line, line);
  }
}

TEST(LookUp, RefusesWhatIsNotInTheCatalog) {
  for (const char* bad :
       {"", "pingpog", "pingpong byte=8", "pingpong bytes=-1", "pingpong bytes=1e30", "pingpong bytes=1.5",
        "pingpong buffers=warm", "pingpong ranks=3", "pingpong bytes", "compute work=0", "compute work=1e6",
        "granularity serial=1.5", "round_robin exchange=any"})
    EXPECT_THROW(find(bad, 2), InvalidCase) << bad;
  EXPECT_THROW(find("pingpong", 3), InvalidCase);
  EXPECT_THROW(find("pingpong", 1), InvalidCase);
}

TEST(LookUp, PlacesAreParametersOfEveryWorkload) {
  const hockney::Case pair = find("pingpong place=socket ranks=2", 8);
  EXPECT_EQ(pair.line, "pingpong buffers=hot bytes=8 place=socket ranks=2");
  EXPECT_EQ(pair.ranks, 2);
  EXPECT_EQ(pair.places.pairs, hockney::Level::socket);
  const hockney::Case spread = find("barrier nodes=2 ranks=6", 8);
  EXPECT_EQ(spread.ranks, 6);
  EXPECT_EQ(spread.places.nodes, 2);
  EXPECT_EQ(find("barrier nodes=02 ranks=06", 8).line, spread.line);
  EXPECT_EQ(find("barrier nodes=2", 8).ranks, 8);
  EXPECT_FALSE(find("barrier", 8).places.any());
  for (const char* bad :
       {"barrier place=here ranks=2", "barrier place=node ranks=3", "barrier place=node nodes=1 ranks=2",
        "barrier nodes=3 ranks=4", "barrier nodes=0 ranks=4", "barrier nodes=-1 ranks=4",
        "barrier nodes=x ranks=4", "barrier nodes=1 ranks=9", "barrier nodes=1 ranks=0",
        "barrier nodes=1 ranks=x", "pingpong nodes=1 ranks=4", "barrier place=node nodes=0 ranks=2",
        "barrier ranks=4", "barrier nodes=99999999999 ranks=8"})
    EXPECT_THROW(find(bad, 8), InvalidCase) << bad;
}

// A randomly damaged line is either a case or rejected.
TEST(LookUp, RefusesWhateverElseComes) {
  std::vector<std::string> corpus;
  for (const hockney::WorkloadInfo* workload : hockney::all_workloads())
    corpus.push_back(find(workload->name, workload->min_ranks).line);
  const std::string tokens[] = {"=",       " ",
                                "-",       "1e999",
                                "nan",     "inf",
                                "0x1",     "9999999999999999999999",
                                ":",       ",",
                                "\xff",    std::string(1, '\0'),
                                "\t",      std::string(5000, 'a'),
                                "ranks=2", "bytes="};
  std::mt19937 draw(20260101);
  const auto below = [&draw](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(draw);
  };
  for (int round = 0; round < 20000; ++round) {
    std::string line = corpus[below(corpus.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(line.size() + 1);
      switch (below(4)) {
        case 0: line.insert(at, tokens[below(std::size(tokens))]); break;
        case 1: line.erase(at, 1 + below(10)); break;
        case 2:
          if (at < line.size()) line[at] = static_cast<char>(line[at] ^ (1 << below(8)));
          break;
        default: line += line.substr(at);
      }
    }
    try {
      EXPECT_FALSE(find(line.c_str(), 2).line.empty());
    } catch (const InvalidCase&) {
    }
  }
}

TEST(Catalog, EveryWorkloadIsComplete) {
  EXPECT_GE(hockney::all_workloads().size(), 17u);
  for (const hockney::WorkloadInfo* workload : hockney::all_workloads()) {
    EXPECT_GE(workload->min_ranks, 1) << workload->name;
    EXPECT_STRNE(workload->help, "") << workload->name;
    EXPECT_STRNE(workload->time, "") << workload->name;
    EXPECT_NE(hockney::catalog().find("\"name\":\"" + std::string(workload->name) + "\""), std::string::npos);
  }
}

}  // namespace
