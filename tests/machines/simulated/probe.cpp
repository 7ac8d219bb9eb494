// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Times single operations on a simulated machine: `probe OPERATION:BYTES ...` prints one line for each, the
// seconds from the moment at which all ranks begin to the moment at which the last one ends. Not a benchmark:
// nothing is repeated.
#include <mpi.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hockney {
void pass(double seconds);  // engine/smpi/processor.cpp
}

namespace {

struct World {
  MPI_Comm all;  // a duplicate: SMPI cannot receive from any source of MPI_COMM_WORLD itself
  int rank, ranks;
};

void sleep_until(double moment) {
  const double left = moment - MPI_Wtime();
  if (left <= 0) return;
  timespec duration{static_cast<time_t>(left), 0};
  duration.tv_nsec = static_cast<long>((left - std::floor(left)) * 1e9);
  nanosleep(&duration, nullptr);
}

// Rank 0 and the last rank; the others do nothing.
void between_two(World world, const std::function<void(int)>& first, const std::function<void(int)>& last) {
  if (world.rank == 0) first(world.ranks - 1);
  if (world.rank == world.ranks - 1) last(0);
}

constexpr double computing_s = 0.01;

using Operation = void (*)(World, int, char*, char*);

const std::map<std::string, Operation> operations = {
    {"nothing", [](World, int, char*, char*) {}},
    {"send",
     [](World w, int n, char* in, char* out) {
       between_two(
           w, [=](int peer) { MPI_Send(out, n, MPI_BYTE, peer, 0, w.all); },
           [=](int peer) { MPI_Recv(in, n, MPI_BYTE, peer, 0, w.all, MPI_STATUS_IGNORE); });
     }},
    {"any_source",
     [](World w, int n, char* in, char* out) {
       between_two(
           w, [=](int peer) { MPI_Send(out, n, MPI_BYTE, peer, 0, w.all); },
           [=](int) { MPI_Recv(in, n, MPI_BYTE, MPI_ANY_SOURCE, 0, w.all, MPI_STATUS_IGNORE); });
     }},
    {"isend",
     [](World w, int n, char* in, char* out) {
       between_two(
           w,
           [=](int peer) {
             MPI_Request request;
             MPI_Isend(out, n, MPI_BYTE, peer, 0, w.all, &request);
             MPI_Wait(&request, MPI_STATUS_IGNORE);
           },
           [=](int peer) { MPI_Recv(in, n, MPI_BYTE, peer, 0, w.all, MPI_STATUS_IGNORE); });
     }},
    {"exchange",
     [](World w, int n, char* in, char* out) {
       const auto both = [=](int peer) {
         MPI_Sendrecv(out, n, MPI_BYTE, peer, 0, in, n, MPI_BYTE, peer, 0, w.all, MPI_STATUS_IGNORE);
       };
       between_two(w, both, both);
     }},
    {"ten",  // ten messages in one direction, one after the other
     [](World w, int n, char* in, char* out) {
       between_two(
           w,
           [=](int peer) {
             for (int i = 0; i < 10; ++i) MPI_Send(out, n, MPI_BYTE, peer, 0, w.all);
           },
           [=](int peer) {
             for (int i = 0; i < 10; ++i) MPI_Recv(in, n, MPI_BYTE, peer, 0, w.all, MPI_STATUS_IGNORE);
           });
     }},
    {"receiver_computes",
     [](World w, int n, char* in, char* out) {
       between_two(
           w, [=](int peer) { MPI_Send(out, n, MPI_BYTE, peer, 0, w.all); },
           [=](int peer) {
             hockney::pass(computing_s);
             MPI_Recv(in, n, MPI_BYTE, peer, 0, w.all, MPI_STATUS_IGNORE);
           });
     }},
    {"sender_computes",
     [](World w, int n, char* in, char* out) {
       between_two(
           w,
           [=](int peer) {
             MPI_Send(out, n, MPI_BYTE, peer, 0, w.all);
             hockney::pass(computing_s);
           },
           [=](int peer) { MPI_Recv(in, n, MPI_BYTE, peer, 0, w.all, MPI_STATUS_IGNORE); });
     }},
    {"all_send_to_computing",  // the last rank computes, the others send to it
     [](World w, int n, char* in, char* out) {
       const int last = w.ranks - 1;
       if (w.rank < last) MPI_Send(out, n, MPI_BYTE, last, 0, w.all);
       if (w.rank < last) return;
       hockney::pass(computing_s);
       for (int rank = 0; rank < last; ++rank) MPI_Recv(in, n, MPI_BYTE, rank, 0, w.all, MPI_STATUS_IGNORE);
     }},
    {"halves",  // each rank of the lower half exchanges with its mirror image in the upper half: bisection
     [](World w, int n, char* in, char* out) {
       const int half = w.ranks / 2, peer = w.rank < half ? w.rank + half : w.rank - half;
       MPI_Sendrecv(out, n, MPI_BYTE, peer, 0, in, n, MPI_BYTE, peer, 0, w.all, MPI_STATUS_IGNORE);
     }},
    {"barrier", [](World w, int, char*, char*) { MPI_Barrier(w.all); }},
    {"bcast", [](World w, int n, char* in, char*) { MPI_Bcast(in, n, MPI_BYTE, 0, w.all); }},
    {"reduce",
     [](World w, int n, char* in, char* out) { MPI_Reduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, 0, w.all); }},
    {"allreduce",
     [](World w, int n, char* in, char* out) { MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, w.all); }},
    {"gather",
     [](World w, int n, char* in, char* out) { MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, w.all); }},
    {"scatter",
     [](World w, int n, char* in, char* out) { MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, w.all); }},
    {"allgather",
     [](World w, int n, char* in, char* out) { MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, w.all); }},
    {"alltoall",
     [](World w, int n, char* in, char* out) { MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, w.all); }},
};

bool of_blocks(const std::string& name, int rank) {
  if (name == "gather" || name == "scatter") return rank == 0;
  return name == "allgather" || name == "alltoall";
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  World world;
  MPI_Comm_dup(MPI_COMM_WORLD, &world.all);
  MPI_Comm_rank(world.all, &world.rank);
  MPI_Comm_size(world.all, &world.ranks);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find(':'));
    const int bytes = std::atoi(word.c_str() + name.size() + 1);
    const std::size_t room =
        static_cast<std::size_t>(bytes) * (of_blocks(name, world.rank) ? world.ranks : 1) + 8;
    std::vector<char> in(room), out(room);
    const double begin = 1000.0 * i;
    sleep_until(begin);
    operations.at(name)(world, bytes, in.data(), out.data());
    const double took = MPI_Wtime() - begin;
    sleep_until(begin + 500.0);  // no other message interferes with the timing
    double longest = 0;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, world.all);
    if (world.rank == 0) std::printf("%s %.12e\n", word.c_str(), longest);
  }
  MPI_Finalize();
}
