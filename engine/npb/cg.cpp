// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "base/parts.hpp"
#include "npb/cg/matrix.hpp"
#include "npb/cg/outer_products.hpp"
#include "npb/cg/vectors.hpp"
#include "npb/frame/kernel.hpp"

namespace hockney::npb {
namespace {

constexpr const char* cg_phases[] = {"products", "vectors"};
constexpr int cg_steps = 25;  // conjugate gradient steps in each iteration

struct CgClass {
  const char* name;
  CgSize size;
  int iterations;
  double zeta;
};
// From Bailey et al. 1994 and the NPB 3.4 sources (values); `tiny` from a sequential program in numpy.
constexpr CgClass cg_classes[] = {
    {"S", {1400, 7, 10}, 15, 8.5971775078648},     {"W", {7000, 8, 12}, 15, 10.362595087124},
    {"A", {14000, 11, 20}, 15, 17.130235054029},   {"B", {75000, 13, 60}, 75, 22.712745482631},
    {"C", {150000, 15, 110}, 75, 28.973605592845}, {"tiny", {101, 4, 10}, 4, 3.7247367700401},
};

// The ranks in a grid of `rows` x `columns`, of which this one is (row, column), and how vectors of n
// elements and the matrix are divided among them.
//
// The vector is divided into one block for each row of the grid, and each block into one piece for each
// column. Rank (i, j) has piece (i, j) of all vectors, and the elements of the matrix in the rows of block i
// and the columns of the pieces (*, j). So a product needs the pieces of the grid column, and its sums are
// over the grid row: no vector is transposed (Bisseling, Parallel Scientific Computation, Cartesian
// distribution).
//
// Both take a number of messages that is the logarithm of the ranks (Bruck et al. 1997, and its reversal), of
// 8n (1/rows + 1/columns - 2/p) bytes together, which is least on a square grid. With p x 1, which is what a
// prime number of ranks gives, they are 8n (1 - 1/p) bytes.
struct CgGrid {
  CgGrid(std::size_t order, const Comm& comm) : n(order) {
    const auto ranks = static_cast<std::size_t>(comm.size);
    for (std::size_t divisor = 1; divisor * divisor <= ranks; ++divisor)
      if (ranks % divisor == 0) columns = divisor;
    rows = ranks / columns;
    row = static_cast<std::size_t>(comm.rank) / columns;
    column = static_cast<std::size_t>(comm.rank) % columns;
  }

  int rank(std::size_t i, std::size_t j) const { return static_cast<int>(i * columns + j); }
  Range block(std::size_t i) const { return part_of(n, rows, i); }
  Range piece(std::size_t i, std::size_t j) const {
    const Range range = block(i);
    const Range part = part_of(range.size(), columns, j);
    return {range.begin + part.begin, range.begin + part.end};
  }
  // The columns of this rank's part of the matrix, and its rows. This rank's piece comes first, so that
  // messages are contiguous.
  std::vector<Range> column_pieces() const {
    std::vector<Range> pieces;
    for (std::size_t i = 0; i < rows; ++i) pieces.push_back(piece((row + i) % rows, column));
    return pieces;
  }
  std::vector<Range> row_pieces() const {
    std::vector<Range> pieces;
    for (std::size_t j = 0; j < columns; ++j) pieces.push_back(piece(row, (column + j) % columns));
    return pieces;
  }

  std::size_t n;
  std::size_t rows = 1, columns = 1;
  std::size_t row = 0, column = 0;
};

// Conjugate gradient: the smallest eigenvalue of a sparse matrix by inverse iteration, in which each system
// of equations is solved approximately by 25 steps of the conjugate gradient method.
class Cg final : public Kernel {
 public:
  Cg(const Place& place, const Values& values)
      : Kernel(place, values, cg_phases),
        class_(class_of<CgClass>(cg_classes, values)),
        grid_(class_.size.order, place.comm),
        own_elements_(grid_.piece(grid_.row, grid_.column).size()) {
    const std::vector<std::size_t> column_ends = ends(grid_.column_pieces());
    const std::vector<std::size_t> row_ends = ends(grid_.row_pieces());
    columns_share_ = static_cast<double>(column_ends.back()) / static_cast<double>(grid_.n);
    gathered_.resize(column_ends.back());
    products_.resize(row_ends.back());
    receive_.resize(row_ends.back());
    for (std::vector<double>* vector : {&x_, &z_, &r_}) vector->resize(own_elements_);
    plan_gathering(column_ends);
    plan_sums(row_ends);
    if (arithmetic_)
      matrix_ = CgMatrix(OuterProducts(class_.size), grid_.row_pieces(), grid_.column_pieces(),
                         place.arena.ranks_on_host());
  }

 private:
  // An exchange with two ranks of a grid column or row: sends to one, and receives from the other, this many
  // elements.
  struct Step {
    Outgoing send;
    Incoming receive;
    std::size_t elements;
  };

  // Start of each piece in a vector of all of them, and the end of the last one.
  static std::vector<std::size_t> ends(const std::vector<Range>& pieces) {
    std::vector<std::size_t> ends{0};
    for (const Range& piece : pieces) ends.push_back(ends.back() + piece.size());
    return ends;
  }

  // Plans the gathering of the grid column's pieces: with m of them, a rank receives up to m more from m rows
  // below.
  void plan_gathering(const std::vector<std::size_t>& ends) {
    for (std::size_t m = 1; m < grid_.rows; m *= 2) {
      const std::size_t end = std::min(2 * m, grid_.rows), elements = ends[end] - ends[m];
      const int to = grid_.rank((grid_.row + grid_.rows - m) % grid_.rows, grid_.column);
      const int from = grid_.rank((grid_.row + m) % grid_.rows, grid_.column);
      gathering_.push_back({{to, gathered_.data(), ends[end - m] * sizeof(double)},
                            {from, gathered_.data() + ends[m], elements * sizeof(double)},
                            elements});
    }
  }

  // Plans sums of the grid row's pieces, by the same messages in the opposite direction and order.
  void plan_sums(const std::vector<std::size_t>& ends) {
    for (std::size_t m = std::bit_ceil(grid_.columns) / 2; m > 0; m /= 2) {
      const std::size_t end = std::min(2 * m, grid_.columns), elements = ends[end - m];
      const int to = grid_.rank(grid_.row, (grid_.column + m) % grid_.columns);
      const int from = grid_.rank(grid_.row, (grid_.column + grid_.columns - m) % grid_.columns);
      sums_.push_back({{to, products_.data() + ends[m], (ends[end] - ends[m]) * sizeof(double)},
                       {from, receive_.data(), elements * sizeof(double)},
                       elements});
    }
  }

  void reset() override { std::fill(x_.begin(), x_.end(), 1.0); }

  void execute() override {
    account_.phase(1);
    for (int i = 0; i < class_.iterations; ++i) {
      solve();
      end_step();
      estimate();
      end_iteration(i, class_.iterations);
    }
  }

  // Solves A z = x approximately.
  void solve() {
    double rho = 0;
    compute(vector_operations(3), [&] {
      std::fill(z_.begin(), z_.end(), 0.0);
      std::copy(x_.begin(), x_.end(), r_.begin());
      std::copy(x_.begin(), x_.end(), p());
      rho = cg_dot(r_.data(), r_.data(), own_elements_);
    });
    account_.sum(&rho, 1);
    for (int step = 0; step < cg_steps; ++step) {
      multiply();
      double curvature = 0;
      compute(vector_operations(1), [&] { curvature = cg_dot(p(), q(), own_elements_); });
      account_.sum(&curvature, 1);
      const double alpha = rho / curvature;
      const double before = rho;
      compute(vector_operations(3), [&] {
        cg_advance(alpha, p(), q(), z_.data(), r_.data(), own_elements_);
        rho = cg_dot(r_.data(), r_.data(), own_elements_);
      });
      account_.sum(&rho, 1);
      const double beta = rho / before;
      compute(vector_operations(1), [&] { cg_direction(beta, r_.data(), p(), own_elements_); });
    }
  }

  // Computes the eigenvalue and the next x. The norm of the residual, sums[2], is part of the benchmark's
  // work.
  void estimate() {
    compute(0, [&] { std::copy(z_.begin(), z_.end(), p()); });
    multiply();
    double sums[3] = {};
    compute(vector_operations(2), [&] {
      sums[0] = cg_dot(x_.data(), z_.data(), own_elements_);
      sums[1] = cg_dot(z_.data(), z_.data(), own_elements_);
      sums[2] = cg_distance(x_.data(), q(), own_elements_);
    });
    account_.sum(sums, 3);
    zeta_ = class_.size.shift + 1 / sums[0];
    const double factor = 1 / std::sqrt(sums[1]);
    compute(vector_operations(1), [&] { cg_scale(factor, z_.data(), x_.data(), own_elements_); });
  }

  // Computes q = A p, overwriting the other pieces in gathered_ and products_.
  void multiply() {
    account_.phase(0);
    for (const Step& step : gathering_)
      account_.exchange(std::span(&step.send, 1), std::span(&step.receive, 1));
    const auto rows = static_cast<double>(products_.size());
    compute(2 * rows * columns_share_ * elements_per_row(),
            [&] { matrix_.multiply(gathered_.data(), products_.data()); });
    for (const Step& step : sums_) {
      account_.exchange(std::span(&step.send, 1), std::span(&step.receive, 1));
      compute(0, [&] { cg_add(receive_.data(), products_.data(), step.elements); });
    }
    account_.phase(1);
  }

  // This rank's pieces of p and q come first.
  double* p() { return gathered_.data(); }
  double* q() { return products_.data(); }

  // The official count: twice this number for each row of the matrix in a product; for each element of
  // vectors, 5 pairs in a step, and 3 before and 3 after the steps.
  double elements_per_row() const {
    return static_cast<double>(class_.size.nonzeros) * static_cast<double>(class_.size.nonzeros + 1);
  }
  double vector_operations(double pairs) const { return 2 * pairs * static_cast<double>(own_elements_); }
  double official_operations() const override {
    return 2.0 * class_.iterations * static_cast<double>(class_.size.order) *
           (3 + elements_per_row() + cg_steps * (5 + elements_per_row()) + 3);
  }

  std::vector<Answer> answers() override { return {{"zeta", zeta_, class_.zeta, 1e-10}}; }
  // Flips the highest bit of an exponent, since the iteration recovers from any vector that has a norm.
  void flip() override {
    if (!x_.empty())
      x_[0] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x_[0]) ^ std::uint64_t{1} << 62);
  }
  std::string decomposition() const override {
    return std::to_string(grid_.rows) + " x " + std::to_string(grid_.columns) + " blocks of the matrix";
  }

  const CgClass class_;
  const CgGrid grid_;
  const std::size_t own_elements_;  // elements of this rank's piece of a vector
  CgMatrix matrix_;
  double columns_share_ = 0;  // this rank's share of the matrix
  std::vector<double> x_, z_, r_;
  std::vector<double> gathered_;  // the multiplied vector: the pieces of the grid column
  std::vector<double> products_;  // products of this rank's part of the matrix: the pieces of the grid row
  std::vector<double> receive_;
  std::vector<Step> gathering_, sums_;
  double zeta_ = 0;
};

constexpr auto cg_parameters =
    kernel_parameters("S|W|A|B|C|tiny", "order of the matrix: 1400, 7000, 14000, 75000, 150000 or 101");

}  // namespace

extern constinit const WorkloadInfo cg = kernel_info(
    "cg",
    "CG of the NAS Parallel Benchmarks: the smallest eigenvalue of a sparse matrix by inverse iteration",
    cg_parameters, make<Cg>);

}  // namespace hockney::npb
