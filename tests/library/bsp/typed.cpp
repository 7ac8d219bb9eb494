// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface in C++20: areas, arrays, elements, messages, several programs at once on parts of the ranks,
// and the record of supersteps.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <hockney/bsp.hpp>
#include <memory>
#include <vector>

namespace {

namespace bsp = hockney::bsp;

#define EXPECT(condition) ((condition) ? void() : failed(#condition, __LINE__))

void failed(const char* condition, int line) {
  std::fprintf(stderr, "typed.cpp:%d: expected %s\n", line, condition);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Point {
  double x, y;
};

void memory(MPI_Comm comm) {
  bsp::Process program(comm);
  const int p = program.nprocs(), s = program.pid(), right = (s + 1) % p, left = (s + p - 1) % p;
  std::vector<Point> points(8);
  bsp::Area<Point> area(program, points);
  auto array = std::make_unique<bsp::Array<int>>(program, static_cast<std::size_t>(s == 0 ? 3 : 5));
  program.sync();
  EXPECT(std::all_of(array->begin(), array->end(), [](int each) { return each == 0; }));
  const std::vector<Point> two{{1.0 * s, 2}, {3, 4.0 * s}};
  program.put(right, two, area, 1);
  program.put(right, {5, 6}, area, 0);
  program.put(right, 10 + s, *array, 2);
  program.sync();
  EXPECT(area[0].x == 5 && points[1].x == left && points[2].y == 4 * left && (*array)[2] == 10 + left);
  int one = -1;
  std::vector<Point> got(2);
  program.get(left, *array, 2, one);
  program.get(left, area, 1, got);
  std::vector<Point> unbuffered{{7, 8}};
  program.hpput(right, unbuffered, area, 7);
  program.sync();
  EXPECT(one == 10 + (left + p - 1) % p && got[1].y == 4 * ((left + p - 1) % p) && points[7].y == 8);
  bsp::Area<Point> moved = std::move(area);
  program.put(right, {9, 9}, moved, 0);
  program.sync();
  EXPECT(points[0].x == 9);
  array.reset();
  program.sync();
  EXPECT(program.superstep() == 5 && program.time() > 0);
}

void messages(MPI_Comm comm) {
  bsp::Process program(comm);
  const int p = program.nprocs(), s = program.pid(), right = (s + 1) % p, left = (s + p - 1) % p;
  program.send(right, std::vector<int>{});
  EXPECT(program.tag_size(sizeof(Point)) == 0);
  program.sync();
  EXPECT(program.messages() == 1 && program.message_bytes() == 0 &&
         program.receive()->payload<int>().empty());
  EXPECT(!program.receive());
  program.send(right, Point{1, 2.0 * s}, std::vector<long>{3, 4, s});
  program.sync();
  const auto message = program.receive();
  EXPECT(message && message->tag<Point>().y == 2 * left);
  const auto payload = message->payload<long>();
  EXPECT(payload.size() == 3 && payload[2] == left && program.messages() == 0);
}

void record(MPI_Comm comm) {
  bsp::Process program(comm);
  const int p = program.nprocs(), s = program.pid(), right = (s + 1) % p;
  bsp::Array<double> array(program, 100);
  program.sync();
  EXPECT(program.supersteps().empty());
  program.record(true);
  for (int k = 0; k < 10; k += 2) program.put(right, 1.0, array, static_cast<std::size_t>(k));
  program.put(s, 1.0, array, 1);
  std::vector<double> got(20);
  program.get(right, array, 0, got);
  program.sync();
  program.send(right, std::vector<char>(33));
  program.sync();
  program.sync();
  program.record(false);
  program.sync();
  const auto steps = program.supersteps();
  EXPECT(steps.size() == 3);
  const std::uint64_t others = p > 1;
  EXPECT(steps[0].bytes_out == others * (5 * 8 + 160) && steps[0].bytes_in == others * (5 * 8 + 160));
  EXPECT(steps[0].operations == others * 6 && steps[0].packets_out == (p == 2 ? 2 : 2 * others));
  EXPECT(steps[1].bytes_out == others * 33 && steps[1].bytes_in == others * 33 &&
         steps[1].operations == others);
  EXPECT(steps[2].bytes_in == 0 && steps[2].packets_in == 0 && steps[2].packets_out == 0);
  for (const bsp::Superstep& step : steps) EXPECT(step.work_s >= 0 && step.sync_s > 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, part}) {
    memory(comm);
    messages(comm);
    record(comm);
  }
  MPI_Comm_free(&part);
  {
    bsp::Process whole(MPI_COMM_WORLD), again(MPI_COMM_WORLD, {.path = bsp::Path::messages});
    bsp::Array<int> one(whole, 1), two(again, 1);
    again.sync();
    whole.sync();
    again.put(0, 5, two, 0);
    whole.put(0, 6, one, 0);
    whole.sync();
    again.sync();
    EXPECT(rank > 0 || (one[0] == 6 && two[0] == 5));
  }
  MPI_Finalize();
  return 0;
}
