// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the installed collectives like a program of their users: every operation with every algorithm gives
// the result of MPI's own function. Prints "fine" and the number of comparisons; aborts with the line of a
// failed check. Its argument is a folder for tables.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <hockney/coll.hpp>
#include <hockney/coll_span.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coll_blocks.hpp"

namespace {

namespace coll = hockney::coll;
int calls_of_mpi = 0;  // of the functions below

int comparisons = 0;

}  // namespace

// How often the library left a call to MPI.
extern "C" int MPI_Allreduce(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++calls_of_mpi;
  return PMPI_Allreduce(out, in, n, type, op, comm);
}
extern "C" int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  ++calls_of_mpi;
  return PMPI_Bcast(data, n, type, root, comm);
}

// A rank's state is created once, even if two threads need it at the same time.
extern "C" int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* there) {
  const int error = PMPI_Comm_get_attr(comm, key, value, there);
  if (comm == MPI_COMM_SELF && !*there) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return error;
}
extern "C" int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  void* before = nullptr;
  int there = 0;
  PMPI_Comm_get_attr(comm, key, &before, &there);
  HOLDS(comm != MPI_COMM_SELF || !there);
  return PMPI_Comm_set_attr(comm, key, value);
}

namespace {

// `call(choice, in, out)` with each algorithm leaves in `in` what MPI's own function does.
template <class Call>
void compare(const char* operation, const Ints& before, Call call) {
  Ints wanted = before;
  HOLDS(call(coll::Choice("mpi"), wanted) == MPI_SUCCESS);
  for (const std::string& algorithm : coll::algorithm_names(operation)) {
    Ints found = before;
    HOLDS(call(coll::Choice(algorithm), found) == MPI_SUCCESS);
    if (found != wanted) std::fprintf(stderr, "%s %s\n", operation, algorithm.c_str());
    HOLDS(found == wanted);
    ++comparisons;
  }
}

// `shift` makes ranks differ in their types.
void moving_data(MPI_Comm comm, int blocks, int shift, int root) {
  const int rank = rank_in(comm), size = size_of(comm);
  Layout out = Layout::of((rank + shift) % 4), in = Layout::of((rank + shift / 4) % 4);
  const int sent = out.count * blocks, got = in.count * blocks;
  const int length_out = out.ints * blocks, length_in = in.ints * blocks;
  const Ints one = numbers(length_out, 1000 * rank), all = numbers(length_out * size, 1000 * rank);
  const Ints to_one(static_cast<std::size_t>(length_in) + 1, -1);
  const Ints to_all(static_cast<std::size_t>(length_in * size) + 1, -1);
  const bool at_root = rank == root;

  compare("bcast", at_root ? numbers(length_in, 7) : to_one, [&](coll::Choice choice, Ints& data) {
    return coll::bcast(data.data(), got, in.type, root, comm, choice);
  });
  compare("gather", to_all, [&](coll::Choice choice, Ints& data) {
    return coll::gather(one.data(), sent, out.type, data.data(), got, at_root ? in.type : MPI_DATATYPE_NULL,
                        root, comm, choice);
  });
  compare("gather", to_all, [&](coll::Choice choice, Ints& data) {
    return coll::gather(at_root ? MPI_IN_PLACE : one.data(), sent, at_root ? MPI_DATATYPE_NULL : out.type,
                        data.data(), got, in.type, root, comm, choice);
  });
  compare("scatter", to_one, [&](coll::Choice choice, Ints& data) {
    return coll::scatter(all.data(), sent, at_root ? out.type : MPI_DATATYPE_NULL, data.data(), got, in.type,
                         root, comm, choice);
  });
  compare("scatter", to_one, [&](coll::Choice choice, Ints& data) {
    return coll::scatter(all.data(), sent, out.type, at_root ? MPI_IN_PLACE : data.data(), got,
                         at_root ? MPI_DATATYPE_NULL : in.type, root, comm, choice);
  });
  compare("allgather", to_all, [&](coll::Choice choice, Ints& data) {
    return coll::allgather(one.data(), sent, out.type, data.data(), got, in.type, comm, choice);
  });
  compare("alltoall", to_all, [&](coll::Choice choice, Ints& data) {
    return coll::alltoall(all.data(), sent, out.type, data.data(), got, in.type, comm, choice);
  });
  const Ints in_place = numbers(length_in * size, 100 * rank);
  compare("allgather", in_place, [&](coll::Choice choice, Ints& data) {
    return coll::allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), got, in.type, comm, choice);
  });
  compare("alltoall", in_place, [&](coll::Choice choice, Ints& data) {
    return coll::alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), got, in.type, comm, choice);
  });
  out.free();
  in.free();
}

// Products of 2 by 2 matrices: associative, but not commutative.
void multiply(void* left, void* right, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const unsigned*>(left);
  auto* b = static_cast<unsigned*>(right);
  for (int k = 0; k < *count; ++k, a += 4, b += 4) {
    const unsigned c[] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                          a[2] * b[1] + a[3] * b[3]};
    std::copy(c, c + 4, b);
  }
}

void reductions(MPI_Comm comm, int count, MPI_Datatype type, int width, MPI_Op op, int root) {
  const int rank = rank_in(comm), size = size_of(comm), length = count * width;
  const Ints own = numbers(length, 3 + 10 * rank), all = numbers(length * size, 5 + rank);
  const Ints nothing(static_cast<std::size_t>(length) + 1, -1);
  compare("reduce", nothing, [&](coll::Choice choice, Ints& data) {
    return coll::reduce(own.data(), rank == root ? data.data() : nullptr, count, type, op, root, comm,
                        choice);
  });
  compare("reduce", own, [&](coll::Choice choice, Ints& data) {
    return coll::reduce(rank == root ? MPI_IN_PLACE : own.data(), data.data(), count, type, op, root, comm,
                        choice);
  });
  compare("allreduce", nothing, [&](coll::Choice choice, Ints& data) {
    return coll::allreduce(own.data(), data.data(), count, type, op, comm, choice);
  });
  compare("allreduce", own, [&](coll::Choice choice, Ints& data) {
    return coll::allreduce(MPI_IN_PLACE, data.data(), count, type, op, comm, choice);
  });
  compare("scan", nothing, [&](coll::Choice choice, Ints& data) {
    return coll::scan(own.data(), data.data(), count, type, op, comm, choice);
  });
  compare("scan", own, [&](coll::Choice choice, Ints& data) {
    return coll::scan(MPI_IN_PLACE, data.data(), count, type, op, comm, choice);
  });
  compare("reduce_scatter_block", nothing, [&](coll::Choice choice, Ints& data) {
    return coll::reduce_scatter_block(all.data(), data.data(), count, type, op, comm, choice);
  });
}

void every_operation(MPI_Comm comm) {
  const int last = size_of(comm) - 1;
  for (int shift = 0; shift < 16; ++shift) moving_data(comm, 1 + shift % 3, shift, shift % 2 ? last : 0);
  moving_data(comm, 4000, 0, last);
  moving_data(comm, 0, 5, 0);
  MPI_Datatype matrix;
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op product;
  MPI_Op_create(multiply, 0, &product);
  for (const int count : {0, 1, 5, 3000}) {
    reductions(comm, count, MPI_INT, 1, MPI_SUM, last);
    reductions(comm, count, matrix, 4, product, 0);
    reductions(comm, count, matrix, 4, product, last);
    reductions(comm, count, MPI_2INT, 2, MPI_MINLOC, 0);
  }
  MPI_Op_free(&product);
  MPI_Type_free(&matrix);
}

// A message of the program, in flight meanwhile, is not received by anyone else.
void program_messages(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  int sent = rank, got = -1;
  MPI_Request requests[2];
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
  every_operation(comm);
  MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 0, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  HOLDS(got == (rank + size - 1) % size);
}

// Nor is one to itself, when types with holes are copied.
void message_to_itself(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  Layout holes = Layout::of(1);
  const Ints one = numbers(12, rank);
  Ints all(static_cast<std::size_t>(12 * size)), sums(24);
  int sent = rank, got = -1;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request);
  coll::allgather(one.data(), 2, holes.type, all.data(), 2, holes.type, comm, "bruck");
  coll::allreduce(numbers(24, 0).data(), sums.data(), 12, MPI_2INT, MPI_MINLOC, comm, "ring");
  MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  HOLDS(got == rank && sums[23] == 23);
  for (int other = 0; other < size; ++other)
    HOLDS(all[static_cast<std::size_t>(12 * other + 10)] == other + 10);
  holes.free();
}

void left_to_mpi(int rank, int size) {
  int value = 1, sum = 0;
  const int before = calls_of_mpi;
  coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, "ring");
  coll::allreduce(&value, &sum, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD, "ring");
  coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, "mpi");
  coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  HOLDS(calls_of_mpi == before + 4 && sum == size);
  coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, "ring");
  HOLDS(calls_of_mpi == before + (size > 1 ? 4 : 5));
  if (size < 2) return;
  MPI_Comm part, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 1 : 0, rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 7, &both);
  coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, both, "ring");  // the sum of the other group
  HOLDS(sum == (rank == 0 ? size - 1 : 1));
  int sent = rank == 0 ? 5 : 0;
  coll::bcast(&sent, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, both, "chain");
  HOLDS(sent == 5);
  HOLDS(calls_of_mpi == before + 6);
  MPI_Comm_free(&both);
  MPI_Comm_free(&part);
}

template <class Error, class Call>
std::string thrown(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void errors(MPI_Comm comm) {
  int value = 1, sum = 0;
  const std::string unknown = thrown<std::invalid_argument>(
      [&] { coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, "rings"); });
  HOLDS(unknown.find("'rings'") != std::string::npos && unknown.find("rabenseifner") != std::string::npos);
  for (const char* text :
       {"", "allreduce ranks=2 bytes=8 algorithm=ring", "hockney-choices 2\n",
        "hockney-choices 1\nallredux ranks=2 bytes=8 algorithm=ring",
        "hockney-choices 1\nbcast ranks=2 bytes=8", "hockney-choices 1\nbcast ranks=2 bytes=8 algorithm=ring",
        "hockney-choices 1\nbcast ranks=2 bytes=8:7 algorithm=mpi",
        "hockney-choices 1\nbcast ranks=-2 bytes=8 algorithm=mpi",
        "hockney-choices 1\nbcast ranks=2 bytes=8x algorithm=mpi",
        "hockney-choices 1\nbcast ranks=2147483648 bytes=8 algorithm=mpi",
        "hockney-choices 1\nbcast ranks=2 bytes=9223372036854775808 algorithm=mpi",
        "hockney-choices 1\nbcast ranks=2 bytes=: algorithm=mpi",
        "hockney-choices 1\nbcast ranks=2 bytes=8 algorithm=mpi tea=1",
        "hockney-choices 1\nbcast ranks=2 ranks=3 bytes=8 algorithm=mpi",
        "hockney-choices 1\nbcast ranks=2 bytes=8 bytes=8 algorithm=mpi",
        "hockney-choices 1\nbcast ranks=2 bytes=8 algorithm=chain algorithm=mpi"})
    HOLDS(thrown<std::runtime_error>([&] { coll::Table::parse(text, "name"); }).rfind("name:", 0) == 0);
  const std::string odd = thrown<std::runtime_error>(
      [] { coll::Table::parse("hockney-choices 1\n\x1b[31m" + std::string(500, 'x'), "name"); });
  HOLDS(odd.find('\x1b') == std::string::npos && odd.size() < 120);
  const std::string long_line =
      "hockney-choices 1\nbcast ranks=2 bytes=8 algorithm=mpi " + std::string(2000, ' ');
  HOLDS(thrown<std::runtime_error>([&] { coll::Table::parse(long_line + "x", "name"); }).size() < 120);
  for (const char* file : {"/nowhere", "/dev/zero", "/dev", "/"})
    HOLDS(thrown<std::runtime_error>([&] { coll::Table::read(file); }).rfind(std::string(file) + ":", 0) ==
          0);
  // An error inside an algorithm goes to the error handler of the program's communicator.
  if (size_of(comm) == 1) return;
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  std::vector<int> data(100);
  const int mine = rank_in(copy) == 0 ? 100 : 10;  // erroneous: others receive less than is sent
  const int error = coll::bcast(data.data(), mine, MPI_INT, 0, copy, "linear");
  int kind = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &kind);
  HOLDS(rank_in(copy) == 0 ? error == MPI_SUCCESS : kind == MPI_ERR_TRUNCATE);
  MPI_Comm_free(&copy);
}

void tables(int size) {
  const auto table = coll::Table::parse(
      "# a comment\nhockney-choices 1\n\nallreduce ranks=2:8 bytes=8:64 algorithm=ring # why\r\n"
      "allreduce ranks=2 bytes=64:128 algorithm=rabenseifner\nbcast ranks=1:99 bytes=4 algorithm=mpi\n");
  HOLDS(table.choice("allreduce", 2, 7) == "mpi" && table.choice("allreduce", 2, 8) == "ring");
  HOLDS(table.choice("allreduce", 2, 64) == "ring" && table.choice("allreduce", 2, 65) == "rabenseifner");
  HOLDS(coll::Table::parse(
            "hockney-choices 1\nscan ranks=1:2147483647 bytes=0:9223372036854775807 algorithm=linear")
            .choice("scan", 2147483647, 9223372036854775807) == "linear");
  HOLDS(table.choice("allreduce", 3, 65) == "mpi" && table.choice("allreduce", 9, 8) == "mpi");
  HOLDS(table.choice("bcast", 2, 4) == "mpi" && table.choice("scan", 2, 8) == "mpi");
  HOLDS(!thrown<std::invalid_argument>([&] { table.choice("tea", 2, 8); }).empty());
  int value = 1, sum = 0;
  double values[2] = {1, 2}, sums[2] = {};
  const int before = calls_of_mpi;
  coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, table);  // 4 bytes: no rule
  HOLDS(calls_of_mpi == before + 1 && sum == size);
  coll::allreduce(values, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, table);
  const bool ours = 2 <= size && size <= 8;
  HOLDS(calls_of_mpi == before + (ours ? 1 : 2) && sums[1] == 2 * size);
}

// The table in HOCKNEY_CHOICES, which is the same everywhere, or another one on the last rank.
void environment(const std::string& folder, int rank, int size, bool same) {
  const std::string file = folder + "/" + std::to_string(rank) + (same ? "same" : "other");
  const char* const algorithm = same || rank + 1 < size ? "ring" : "recursive_doubling";
  std::ofstream(file) << "hockney-choices 1\nallreduce ranks=2:99 bytes=50:99 algorithm=" << algorithm
                      << "\n";
  setenv("HOCKNEY_CHOICES", file.c_str(), 1);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const int before = calls_of_mpi;
  for (int k = 0; k < 3; ++k) {
    const Ints values(15, 1);
    Ints sums(15);
    coll::allreduce(values.data(), sums.data(), 15, MPI_INT, MPI_SUM, copy);
    HOLDS(sums == Ints(15, size));
  }
  HOLDS(calls_of_mpi == before + (same && size > 1 ? 0 : 3));
  MPI_Comm_free(&copy);
}

// Two threads, each with a communicator, from the first call of the process on.
void two_threads(int size) {
  MPI_Comm comms[2];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  auto work = [size](MPI_Comm comm, int count) {
    const Ints ones(static_cast<std::size_t>(count), 1);
    Ints sums(ones.size());
    for (int k = 0; k < 50; ++k) {
      coll::allreduce(ones.data(), sums.data(), count, MPI_INT, MPI_SUM, comm,
                      k % 2 ? "ring" : "rabenseifner");
      HOLDS(sums == Ints(ones.size(), size));
    }
  };
  std::thread other(work, comms[1], 7);
  work(comms[0], 1000);
  other.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void spans(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  const auto count = static_cast<std::size_t>(size);
  std::vector<double> own(3, rank + 1.0), sums(3), every(3 * count), back(3 * count), block(3);
  const double total = size * (size + 1) / 2.0;
  coll::allreduce(std::span<const double>(own), std::span(sums), MPI_SUM, comm, "ring");
  HOLDS(sums == std::vector<double>(3, total));
  sums = own;
  coll::allreduce(std::span(sums), MPI_SUM, comm, "rabenseifner");
  HOLDS(sums == std::vector<double>(3, total));
  coll::allgather(std::span<const double>(own), std::span(every), comm, "bruck");
  HOLDS(every.front() == 1 && every.back() == size);
  coll::alltoall(std::span<const double>(every), std::span(back), comm, "linear");
  HOLDS(back == std::vector<double>(3 * count, rank + 1.0));
  coll::reduce_scatter_block(std::span<const double>(every), std::span(block), MPI_SUM, comm, "pairwise");
  HOLDS(block == std::vector<double>(3, size * (rank + 1.0)));
  coll::scan(std::span<const double>(own), std::span(sums), MPI_SUM, comm, "linear");
  HOLDS(sums == std::vector<double>(3, (rank + 1) * (rank + 2) / 2.0));
  coll::scatter(std::span<const double>(every), std::span(block), 0, comm, "binomial");
  HOLDS(block == own);
  coll::gather(std::span<const double>(own), std::span(rank == 0 ? back : sums), 0, comm, "binomial");
  HOLDS(rank > 0 || back == every);
  coll::reduce(std::span<const double>(own), std::span(sums), MPI_MAX, 0, comm, "binomial");
  HOLDS(rank > 0 || sums == std::vector<double>(3, size));
  coll::bcast(std::span(sums), 0, comm, "chain");
  HOLDS(sums == std::vector<double>(3, size));
  HOLDS(!thrown<std::length_error>([&] {
           coll::allreduce(std::span<const double>(own), std::span(every).first(1), MPI_SUM, comm);
         }).empty());
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  HOLDS(argc == 3);
  HOLDS(coll::operation_names().size() == 10);
  const bool same = std::string(argv[2]) == "same";
  if (level == MPI_THREAD_MULTIPLE && same) two_threads(size);
  environment(argv[1], rank, size, same);
  if (same) {
    every_operation(MPI_COMM_WORLD);
    MPI_Comm backwards, part;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    every_operation(part);
    if (size > 1) {  // messages of MPI's own functions to itself may be received by a program's only rank
      program_messages(backwards);
      message_to_itself(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&part);
    left_to_mpi(rank, size);
    errors(MPI_COMM_WORLD);
    tables(size);
    spans(MPI_COMM_WORLD);
    MPI_Comm unfreed;
    MPI_Comm_dup(MPI_COMM_WORLD, &unfreed);
    int value = 1, sum = 0;
    coll::allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, unfreed, "ring");
  }
  if (rank == 0) std::printf("fine %d\n", comparisons);
  MPI_Finalize();
  return 0;
}
