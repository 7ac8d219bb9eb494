// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the folders coll/OPERATION, under mpiexec at 1 to 9 ranks: the same result as MPI's own
// function, for every root, sizes from 0 to more elements than an int can count, types with holes and types
// that differ between sending and receiving, in place, and in a communicator in another order. Every rank
// runs the same tests in the same order.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "coll/algorithm.hpp"

namespace {

using namespace hockney;

using Ints = std::vector<int>;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

// How a vector lies in memory: elements of `type`, `width` ints each.
struct Layout {
  MPI_Datatype type;
  int width;
  bool holes = false;  // every other int
};

// The arguments of one call beyond its data.
struct Call {
  int count;
  int root;
  MPI_Op op;
  MPI_Comm comm;
  Layout layout;
  bool as_ints = false;  // what is received is no elements of the layout, but their ints

  int received() const { return as_ints ? count * layout.width : count; }
  MPI_Datatype received_type() const { return as_ints ? MPI_INT : layout.type; }
};

// Not null even if empty: MPI may reject equal buffers.
Ints filled(const Call& call, int blocks, int first, int step) {
  const auto size =
      static_cast<std::size_t>(blocks) * static_cast<std::size_t>(call.count * call.layout.width);
  Ints values;
  values.reserve(size + 1);
  for (std::size_t k = 0; k < size; ++k) values.push_back(first + step * static_cast<int>(k));
  return values;
}

Ints data(const Call& call, int blocks) {
  return filled(call, blocks, 1000 * rank_of(call.comm) + 1, 1);
}

Ints empty(const Call& call, int blocks) {
  return filled(call, blocks, -1, 0);
}

// What is in the holes of a type is nobody's business; here they have what was there before.
Ints holeless(const Call& c, Ints values) {
  if (c.layout.holes)
    for (std::size_t k = 1; k < values.size(); k += 2) values[k] = 0;
  return values;
}

// What `function` leaves in this rank's receive buffer.
Ints result(operation::bcast*, operation::bcast::Call* function, const Call& c) {
  Ints both = rank_of(c.comm) == c.root ? data(c, 1) : empty(c, 1);
  EXPECT_EQ(function(both.data(), c.count, c.layout.type, c.root, c.comm), MPI_SUCCESS);
  return both;
}

// This rank's block of what all ranks receive or send.
void move_block(const Call& c, const Ints& from, Ints& to, bool out_of_all) {
  const std::ptrdiff_t length = c.count * c.layout.width, first = rank_of(c.comm) * length;
  if (out_of_all)
    std::copy_n(from.begin() + first, length, to.begin());
  else
    std::copy_n(from.begin(), length, to.begin() + first);
}

Ints result(operation::gather*, operation::gather::Call* function, const Call& c) {
  const Ints out = data(c, 1);
  Ints in = empty(c, size_of(c.comm));
  EXPECT_EQ(function(out.data(), c.count, c.layout.type, in.data(), c.received(), c.received_type(), c.root,
                     c.comm),
            MPI_SUCCESS);
  const bool root = rank_of(c.comm) == c.root;
  Ints both = empty(c, size_of(c.comm));
  move_block(c, out, both, false);
  EXPECT_EQ(function(root ? MPI_IN_PLACE : out.data(), c.count, c.layout.type, both.data(), c.received(),
                     c.received_type(), c.root, c.comm),
            MPI_SUCCESS);
  if (!root) return {};
  EXPECT_EQ(holeless(c, both), holeless(c, in));
  return in;
}

Ints result(operation::scatter*, operation::scatter::Call* function, const Call& c) {
  const Ints out = data(c, size_of(c.comm));
  Ints in = empty(c, 1), again = in;
  EXPECT_EQ(function(out.data(), c.count, c.layout.type, in.data(), c.received(), c.received_type(), c.root,
                     c.comm),
            MPI_SUCCESS);
  const bool root = rank_of(c.comm) == c.root;
  EXPECT_EQ(function(out.data(), c.count, c.layout.type, root ? MPI_IN_PLACE : again.data(), c.received(),
                     c.received_type(), c.root, c.comm),
            MPI_SUCCESS);
  if (!root) {
    EXPECT_EQ(again, in);
  }
  return in;
}

// allgather and alltoall differ in the number of blocks sent.
template <class Function>
Ints exchanged(Function* function, const Call& c, int sent) {
  const Ints out = data(c, sent);
  Ints in = empty(c, size_of(c.comm));
  EXPECT_EQ(function(out.data(), c.count, c.layout.type, in.data(), c.received(), c.received_type(), c.comm),
            MPI_SUCCESS);
  Ints both = empty(c, size_of(c.comm));
  if (sent > 1)
    both = out;
  else
    move_block(c, out, both, false);
  EXPECT_EQ(
      function(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both.data(), c.received(), c.received_type(), c.comm),
      MPI_SUCCESS);
  EXPECT_EQ(holeless(c, both), holeless(c, in));
  return in;
}

Ints result(operation::allgather*, operation::allgather::Call* function, const Call& c) {
  return exchanged(function, c, 1);
}

Ints result(operation::alltoall*, operation::alltoall::Call* function, const Call& c) {
  return exchanged(function, c, size_of(c.comm));
}

Ints result(operation::reduce*, operation::reduce::Call* function, const Call& c) {
  const Ints out = data(c, 1);
  Ints in = empty(c, 1), both = out;
  EXPECT_EQ(function(out.data(), in.data(), c.count, c.layout.type, c.op, c.root, c.comm), MPI_SUCCESS);
  const bool root = rank_of(c.comm) == c.root;
  EXPECT_EQ(function(root ? MPI_IN_PLACE : out.data(), root ? both.data() : nullptr, c.count, c.layout.type,
                     c.op, c.root, c.comm),
            MPI_SUCCESS);
  if (!root) return {};
  EXPECT_EQ(both, in);
  return in;
}

// allreduce and scan, and reduce_scatter_block of a vector of `blocks` blocks; also in place.
template <class Function>
Ints reduced(Function* function, const Call& c, int blocks) {
  const Ints out = data(c, blocks);
  Ints in = empty(c, 1);
  EXPECT_EQ(function(out.data(), in.data(), c.count, c.layout.type, c.op, c.comm), MPI_SUCCESS);
  Ints both = out;
  EXPECT_EQ(function(MPI_IN_PLACE, both.data(), c.count, c.layout.type, c.op, c.comm), MPI_SUCCESS);
  both.resize(in.size());
  EXPECT_EQ(both, in);
  return in;
}

Ints result(operation::allreduce*, operation::allreduce::Call* function, const Call& c) {
  return reduced(function, c, 1);
}

Ints result(operation::scan*, operation::scan::Call* function, const Call& c) {
  return reduced(function, c, 1);
}

Ints result(operation::reduce_scatter_block*, operation::reduce_scatter_block::Call* function,
            const Call& c) {
  return reduced(function, c, size_of(c.comm));
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

template <class Operation>
constexpr bool reduces =
    std::is_same_v<Operation, operation::reduce> || std::is_same_v<Operation, operation::allreduce> ||
    std::is_same_v<Operation, operation::scan> || std::is_same_v<Operation, operation::reduce_scatter_block>;

template <class Operation>
void compare(typename Operation::Call* function, typename Operation::Call* mpi, const Call& call) {
  EXPECT_EQ(result(static_cast<Operation*>(nullptr), function, call),
            result(static_cast<Operation*>(nullptr), mpi, call))
      << call.count << " elements of " << call.layout.width << " ints, root " << call.root;
}

template <class Operation>
void same_results(const CollectiveAlgorithm<Operation>& algorithm, typename Operation::Call* mpi) {
  const Layout plain{MPI_INT, 1};
  for (const int count : {0, 1, 2, 3, 7, 64, 1001, 40'000})
    compare<Operation>(algorithm.call, mpi, {count, 0, MPI_SUM, MPI_COMM_WORLD, plain});
  for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root)
    compare<Operation>(algorithm.call, mpi, {5, root, MPI_SUM, MPI_COMM_WORLD, plain});

  MPI_Comm backwards;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, -rank_of(MPI_COMM_WORLD), &backwards);
  compare<Operation>(algorithm.call, mpi, {9, size_of(backwards) - 1, MPI_MAX, backwards, plain});
  MPI_Comm_free(&backwards);

  if constexpr (reduces<Operation>) {
    MPI_Datatype matrix;
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op product;
    MPI_Op_create(multiply, 0, &product);
    for (const int count : {1, 6})
      for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root)
        compare<Operation>(algorithm.call, mpi, {count, root, product, MPI_COMM_WORLD, {matrix, 4}});
    MPI_Op_free(&product);
    MPI_Type_free(&matrix);
  } else {
    MPI_Datatype holes, padded, pair, nothing;
    MPI_Type_vector(2, 1, 2, MPI_INT, &holes);
    MPI_Type_create_resized(holes, 0, 4 * static_cast<MPI_Aint>(sizeof(int)), &padded);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    for (MPI_Datatype* type : {&padded, &pair, &nothing}) MPI_Type_commit(type);
    for (const int count : {1, 6, 3000})
      compare<Operation>(algorithm.call, mpi, {count, 0, MPI_SUM, MPI_COMM_WORLD, {padded, 4, true}});
    if constexpr (!std::is_same_v<Operation, operation::bcast>)
      for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root)
        compare<Operation>(algorithm.call, mpi, {7, root, MPI_SUM, MPI_COMM_WORLD, {pair, 2}, true});
    // No bytes, but several blocks have more elements than an int can count.
    compare<Operation>(algorithm.call, mpi, {INT_MAX / 2 + 3, 0, MPI_SUM, MPI_COMM_WORLD, {nothing, 0}});
    for (MPI_Datatype* type : {&padded, &pair, &nothing, &holes}) MPI_Type_free(type);
  }
}

// Calls back to back, so that ranks may be in different ones.
template <class Operation>
void back_to_back(const CollectiveAlgorithm<Operation>& algorithm, typename Operation::Call* mpi) {
  for (int k = 0; k < 200; ++k)
    compare<Operation>(algorithm.call, mpi,
                       {k % 5, k % size_of(MPI_COMM_WORLD), MPI_SUM, MPI_COMM_WORLD, {MPI_INT, 1}});
}

#define HOCKNEY_TEST(OPERATION, MPI)                              \
  TEST(Collectives, OPERATION) {                                  \
    for (const auto* algorithm : operation::OPERATION::table()) { \
      SCOPED_TRACE(algorithm->name);                              \
      same_results<operation::OPERATION>(*algorithm, MPI);        \
      back_to_back<operation::OPERATION>(*algorithm, MPI);        \
    }                                                             \
  }

HOCKNEY_TEST(bcast, MPI_Bcast)
HOCKNEY_TEST(gather, MPI_Gather)
HOCKNEY_TEST(scatter, MPI_Scatter)
HOCKNEY_TEST(allgather, MPI_Allgather)
HOCKNEY_TEST(alltoall, MPI_Alltoall)
HOCKNEY_TEST(reduce, MPI_Reduce)
HOCKNEY_TEST(allreduce, MPI_Allreduce)
HOCKNEY_TEST(reduce_scatter_block, MPI_Reduce_scatter_block)
HOCKNEY_TEST(scan, MPI_Scan)

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
