// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
