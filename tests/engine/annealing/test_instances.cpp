// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Readers of TSPLIB and QAPLIB files: what they accept, and the errors of everything else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "hockney/annealing/quadratic_assignment.hpp"
#include "hockney/annealing/travelling_salesman.hpp"

namespace {

using namespace hockney::annealing;

TravellingSalesman tsplib(const std::string& text) {
  std::istringstream in(text);
  return read_tsplib(in, "file.tsp");
}

QuadraticAssignment qaplib(const std::string& text) {
  std::istringstream in(text);
  return read_qaplib(in, "file.dat");
}

struct Malformed {
  const char* title;
  const char* code;
  std::size_t line;
  std::string text;
};

const std::string head = "TYPE: TSP\nDIMENSION: 3\n";
const std::string points = head + "EDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n";
const std::string matrix =
    head + "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n";
const std::string triangle =
    head + "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n";

const Malformed malformed_tsplib[] = {
    {"empty", "incomplete", 0, ""},
    {"no size", "incomplete", 2, "TYPE: TSP\nEDGE_WEIGHT_TYPE: EUC_2D\n"},
    {"size after the section", "incomplete", 2,
     "EDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\nDIMENSION: 1\n"},
    {"no weight type", "incomplete", 5, head + "NODE_COORD_SECTION\n1 0 0 2 1 1\n3 2 2"},
    {"no nodes", "incomplete", 3, head + "EDGE_WEIGHT_TYPE: GEO\n"},
    {"no weights", "incomplete", 3, head + "EDGE_WEIGHT_TYPE: EXPLICIT\n"},
    {"no weight format", "incomplete", 4, head + "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_SECTION\n1 2 3"},
    {"size 0", "value", 1, "DIMENSION: 0\n"},
    {"size negative", "value", 1, "DIMENSION: -5\n"},
    {"size huge", "value", 1, "DIMENSION: 99999999999999999999\n"},
    {"size broken", "value", 1, "DIMENSION: 3.5\n"},
    {"size a word", "syntax", 1, "DIMENSION: many\n"},
    {"size missing", "incomplete", 1, "DIMENSION:"},
    {"size twice", "syntax", 3, head + "DIMENSION: 3\n"},
    {"asymmetric type", "unsupported", 1, "TYPE: ATSP\n"},
    {"weight type unknown", "unsupported", 3, head + "EDGE_WEIGHT_TYPE: XRAY1\n"},
    {"weight format unknown", "unsupported", 3, head + "EDGE_WEIGHT_FORMAT: DIAGONAL\n"},
    {"keyword unknown", "syntax", 3, head + "CAPACITY: 5\n"},
    {"fixed edges", "syntax", 3, head + "FIXED_EDGES_SECTION\n1 2\n-1\n"},
    {"more on a line", "syntax", 2, "TYPE: TSP\nDIMENSION: 3 4\n"},
    {"too few nodes", "incomplete", 6, points + "1 0 0\n2 1 1\n"},
    {"end in a node", "incomplete", 6, points + "1 0 0\n2 1"},
    {"end marked early", "syntax", 6, points + "1 0 0\nEOF\n"},
    {"coordinate a word", "syntax", 6, points + "1 0 0\n2 x 1\n3 1 1\n"},
    {"coordinate hexadecimal", "syntax", 5, points + "1 0x10 0\n2 1 1\n3 1 1\n"},
    {"coordinate not a number", "syntax", 5, points + "1 nan 0\n2 1 1\n3 1 1\n"},
    {"coordinate infinite", "syntax", 5, points + "1 1e999 0\n2 1 1\n3 1 1\n"},
    {"coordinates too large", "value", 7, points + "1 0 0\n2 1e10 1\n3 1 1\n"},
    {"node twice", "value", 6, points + "1 0 0\n1 1 1\n3 1 1\n"},
    {"node 0", "value", 5, points + "0 0 0\n1 1 1\n2 1 1\n"},
    {"node out of range", "value", 7, points + "1 0 0\n2 1 1\n4 1 1\n"},
    {"too many nodes", "syntax", 8, points + "1 0 0\n2 1 1\n3 1 2\n4 1 1\n"},
    {"garbage after the nodes", "syntax", 7, points + "1 0 0\n2 1 1\n3 1 2 9\n"},
    {"garbage after the end", "syntax", 9, points + "1 0 0\n2 1 1\n3 1 2\nEOF\nx\n"},
    {"two sections", "syntax", 8, points + "1 0 0\n2 1 1\n3 1 2\nNODE_COORD_SECTION\n"},
    {"matrix asymmetric", "value", 8, matrix + "0 1 2\n1 0 3\n2 4 0\n"},
    {"matrix short", "incomplete", 7, matrix + "0 1 2\n1 0 3\n"},
    {"matrix long", "syntax", 9, matrix + "0 1 2\n1 0 3\n2 3 0\n7\n"},
    {"weight negative", "value", 6, triangle + "1 -2\n3\n"},
    {"weight broken", "value", 6, triangle + "1 2.5\n3\n"},
    {"weight too large", "value", 6, triangle + "1 2147483648\n3\n"},
    {"weight a word", "syntax", 7, triangle + "1 2\nthree\n"},
    {"weight not printable", "syntax", 6, triangle + "1 \x01\xff\n3\n"},
    {"weight very long", "syntax", 6, triangle + std::string(5000, 'x') + "\n"},
    {"matrix of too many nodes", "unsupported", 4,
     "DIMENSION: 5001\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2 "
     "3\n"},
};

const Malformed malformed_qaplib[] = {
    {"qap: empty", "incomplete", 0, ""},
    {"qap: size 1", "value", 1, "1 0 0"},
    {"qap: size huge", "value", 1, "100000000 0 0"},
    {"qap: size a word", "syntax", 1, "two 0 0"},
    {"qap: first matrix short", "incomplete", 3, "2\n\n1 2 3"},
    {"qap: second matrix short", "incomplete", 3, "2\n0 1 1 0\n0 2 2\n"},
    {"qap: more", "syntax", 4, "2\n0 1 1 0\n0 2 2 0\n5\n"},
    {"qap: negative", "value", 3, "2\n0 1 1 0\n0 -2 2 0\n"},
    {"qap: broken", "value", 2, "2\n0 1.5 1 0\n0 2 2 0\n"},
    {"qap: a word", "syntax", 3, "2\n0 1 1 0\n0 nan 2 0\n"},
    {"qap: not exact", "value", 3, "2\n0 2147483647 1 0\n0 2147483647 2 0\n"},
};

template <class Read>
std::string error_of(const Malformed& bad, const Read& read) {
  try {
    read(bad.text);
    ADD_FAILURE() << bad.title << " is accepted";
  } catch (const InstanceError& error) {
    EXPECT_EQ(error.code, bad.code) << bad.title << ": " << error.what();
    EXPECT_EQ(error.line, bad.line) << bad.title << ": " << error.what();
    EXPECT_FALSE(error.expected.empty() || error.found.empty() || error.file.empty()) << bad.title;
    return std::string(bad.title) + "\n  " + error.what() + "\n";
  }
  return {};
}

// The texts are in a golden file: HOCKNEY_REGEN=1 in the environment writes it.
TEST(Readers, ErrorsNameTheLineAndWhatIsExpected) {
  std::string texts;
  for (const Malformed& bad : malformed_tsplib) texts += error_of(bad, tsplib);
  for (const Malformed& bad : malformed_qaplib) texts += error_of(bad, qaplib);
  const char* golden = HOCKNEY_ANNEALING_TESTS "/reader_errors.txt";
  if (std::getenv("HOCKNEY_REGEN") != nullptr) std::ofstream(golden) << texts;
  std::ifstream file(golden);
  EXPECT_EQ(texts, std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST(Readers, AcceptAnyWhiteSpaceAndOrder) {
  const TravellingSalesman plain = tsplib(points + "1 0 0\n2 30 0\n3 0 40\nEOF\n");
  const TravellingSalesman odd = tsplib(
      "NAME:x y z\r\nTYPE: TSP (author)\r\nCOMMENT\r\nCOMMENT : anything: at "
      "all\r\nNODE_COORD_TYPE:TWOD_COORDS\r\nDIMENSION  "
      ":\t3\r\n\r\n"
      "NODE_COORD_SECTION :\r\n\t3 0\r\n4.0e1 2 3e+1\r\n-0 1 0 +0.\r\n EDGE_WEIGHT_TYPE :EUC_2D\r\n"
      "DISPLAY_DATA_SECTION\r\n1 0 0 2 0 0 3 0 0");
  for (const std::int32_t from : {0, 1, 2})
    for (const std::int32_t to : {0, 1, 2}) EXPECT_EQ(plain.distances()(from, to), odd.distances()(from, to));
  EXPECT_EQ(qaplib("2\n\n0 1\n2 0\n\n3 4\n5 6\n").size(), qaplib(" 2 0 1 2\t0 3\r\n4 5 6").size());
}

TEST(Readers, AgreeOnAllFormatsOfOneMatrix) {
  // Of 4 nodes: 1-2: 12, 1-3: 13, ... The diagonal does not matter.
  const std::pair<const char*, const char*> formats[] = {
      {"FULL_MATRIX", "9 12 13 14 12 9 23 24 13 23 9 34 14 24 34 9"},
      {"UPPER_ROW", "12 13 14 23 24 34"},
      {"LOWER_COL", "12 13 14 23 24 34"},
      {"LOWER_ROW", "12 13 23 14 24 34"},
      {"UPPER_COL", "12 13 23 14 24 34"},
      {"UPPER_DIAG_ROW", "0 12 13 14 0 23 24 9999 34 -1"},
      {"LOWER_DIAG_COL", "0 12 13 14 0 23 24 0 34 0"},
      {"LOWER_DIAG_ROW", "0 12 0 13 23 0 14 24 34 0"},
      {"UPPER_DIAG_COL", "0 12 0 13 23 0 14 24 34 0"},
  };
  for (const auto& [format, weights] : formats) {
    const TravellingSalesman problem =
        tsplib("DIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: " + std::string(format) +
               "\nEDGE_WEIGHT_SECTION\n" + weights);
    for (std::int32_t from = 0; from < 4; ++from)
      for (std::int32_t to = 0; to < 4; ++to)
        EXPECT_EQ(problem.distances()(from, to),
                  from == to ? 0 : 10 * (std::min(from, to) + 1) + std::max(from, to) + 1)
            << format;
  }
}

TEST(Readers, FindTheOptimumInAComment) {
  const std::string rest = points + "1 0 0 2 1 1 3 2 2";
  EXPECT_EQ(tsplib("COMMENT: optimum 42\n" + rest).optimum(), 42);
  EXPECT_EQ(tsplib("COMMENT : Optimum: 42\n" + rest).optimum(), 42);
  EXPECT_EQ(tsplib("COMMENT: optimum unknown, see page 3\n" + rest).optimum(), std::nullopt);
  EXPECT_EQ(tsplib(rest).optimum(), std::nullopt);
}

TEST(Instances, AreAllReadableAndHaveAnOptimum) {
  std::set<std::string> names;
  for (const ShippedInstance& shipped : shipped_instances()) {
    const std::string name(shipped.name);
    EXPECT_TRUE(names.insert(name).second) << name << " is two instances";
    EXPECT_EQ(find_instance(name, shipped.kind), &shipped);
    const auto check = [&](const auto& problem) {
      EXPECT_EQ(problem.name(), name);
      EXPECT_TRUE(problem.optimum()) << name;
      EXPECT_NE(problem.instance().source, "");
    };
    if (shipped.kind == "tsp")
      check(TravellingSalesman::load(name));
    else
      check(QuadraticAssignment::load(name));
  }
  EXPECT_GT(names.size(), 30U);
}

TEST(Instances, ThatDoNotExistAreRefused) {
  EXPECT_EQ(find_instance("nug12", "tsp"), nullptr);
  for (const char* missing : {"nug12", "burma15", "", "/nonexistent/x.tsp", "/"}) try {
      TravellingSalesman::load(missing);
      ADD_FAILURE() << missing;
    } catch (const InstanceError& error) {
      EXPECT_EQ(error.code, "not-found");
      EXPECT_NE(error.expected.find("burma14"), std::string::npos);
    }
  EXPECT_THROW(QuadraticAssignment::load("burma14"), InstanceError);
}

// Files with random damage: an error with a line of the file, or a problem.
TEST(Readers, NeverFailOtherwise) {
  const std::string pieces[] = {"-1", "nan",          "1e308",     ":",    "EOF", "\n",
                                " ",  "999999999999", "DIMENSION", "\xff", ".",   "e"};
  Random random(11);
  int accepted = 0;
  for (const ShippedInstance& shipped : shipped_instances()) {
    if (shipped.text.size() > 2000) continue;
    for (int i = 0; i < 60; ++i) {
      std::string text(shipped.text);
      for (std::uint32_t damage = 0; damage < 1 + random.below(3); ++damage) {
        const auto place = random.below(static_cast<std::uint32_t>(text.size()));
        const std::string& piece = pieces[random.below(std::size(pieces))];
        switch (random.below(5)) {
          case 0: text.erase(place, 1 + random.below(30)); break;
          case 1: text.insert(place, piece); break;
          case 2: text[place] = static_cast<char>(random.below(256)); break;
          case 3: text.resize(place + 1); break;
          default: text.insert(place, text.substr(random.below(static_cast<std::uint32_t>(text.size())), 20));
        }
      }
      const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
      try {
        if (shipped.kind == "tsp")
          EXPECT_GE(tsplib(text).size(), 3);
        else
          EXPECT_GE(qaplib(text).size(), 2);
        ++accepted;
      } catch (const InstanceError& error) {
        EXPECT_LE(error.line, lines);
        EXPECT_GT(error.line, 0U);
      }
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
