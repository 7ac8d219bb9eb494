// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The sizes of IS, and the ranks that its verification expects (Bailey et al. 1994; values from the NPB 3.4
// sources; `tiny` from a sequential program in numpy).
namespace hockney::npb {

// In iteration `it` (from 1), the key at `index` has rank `rank` + it * step.
struct IsTest {
  std::size_t index;
  std::int64_t rank;
  int step;
};
struct IsClass {
  const char* name;
  std::size_t keys;
  int log2_values, log2_buckets;
  std::array<IsTest, 5> tests;
};

inline constexpr IsClass is_classes[] = {
    {"S",
     1u << 16,
     11,
     9,
     {{{48427, 0, 1}, {17148, 18, 1}, {23627, 346, 1}, {62548, 64917, -1}, {4431, 65463, -1}}}},
    {"W",
     1u << 20,
     16,
     10,
     {{{357773, 1247, 1},
       {934767, 11696, 1},
       {875723, 1039987, -1},
       {898999, 1043896, -1},
       {404505, 1048018, -1}}}},
    {"A",
     1u << 23,
     19,
     10,
     {{{2112377, 103, 1},
       {662041, 17522, 1},
       {5336171, 123927, 1},
       {3642833, 8288933, -1},
       {4250760, 8388265, -1}}}},
    {"B",
     1u << 25,
     21,
     10,
     {{{41869, 33422937, -1},
       {812306, 10244, 1},
       {5102857, 59149, 1},
       {18232239, 33135281, -1},
       {26860214, 99, 1}}}},
    {"C",
     1u << 27,
     23,
     10,
     {{{44172927, 61147, 1},
       {72999161, 882988, 1},
       {74326391, 266290, 1},
       {129606274, 133997595, -1},
       {21736814, 133525895, -1}}}},
    {"tiny", 1009, 7, 5, {{{829, 1, 1}, {208, 4, 1}, {173, 11, 1}, {945, 993, -1}, {436, 1007, -1}}}},
};

}  // namespace hockney::npb
