// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>

#include "base/random.hpp"
#include "kernels/grid.hpp"
#include "kernels/kernel_base.hpp"

namespace hockney::kernels {
namespace {

// The MPI datatype of T.
template <class T>
MPI_Datatype mpi_type() {
  return sizeof(T) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

// A block of a matrix whose rows are divided among the ranks of one line of the grid, its owners.
struct DistributedBlock {
  std::size_t rows;
  std::size_t columns;
  std::size_t owners;
  std::size_t index;  // this rank's number in the line

  // First element of an owner, and number of its elements.
  std::size_t begin(std::size_t owner) const { return part_of(rows, owners, owner).begin * columns; }
  std::size_t count(std::size_t owner) const { return part_of(rows, owners, owner).size() * columns; }
  std::size_t elements() const { return rows * columns; }
};

// C = A B in a grid of ranks. Rank (i, j, k) multiplies block (i, k) of A by block (k, j) of B. It first
// gathers the blocks, whose rows are divided among the ranks (i, *, k) and (*, j, k); afterwards the sum of
// the products of ranks (i, j, *) is divided among these. With one layer (k = 0), each product is a block of
// C.
template <class T>
class MatrixMultiplication final : public KernelBase {
 public:
  MatrixMultiplication(const Place& place, const Values& values)
      : KernelBase(place, values),
        n_(static_cast<std::size_t>(values.integer("n"))),
        rate_(simulated_rate(values, "rate")),
        grid_(parse_grid(values.word("grid"), ranks_)),
        place_(grid_.coordinates_of(static_cast<std::size_t>(comm_.rank))),
        a_{range(0).size(), range(2).size(), grid_.shape[1], place_[1]},
        b_{range(2).size(), range(1).size(), grid_.shape[0], place_[0]},
        c_{range(0).size(), range(1).size(), grid_.shape[2], place_[2]},
        a_block_(a_.elements()),
        b_block_(b_.elements()),
        product_(c_.owners > 1 ? c_.elements() : 0),
        partial_((c_.owners - 1) * c_.count(c_.index)),
        sums_(c_.count(c_.index)) {
    if (n_ < std::max({grid_.shape[0], grid_.shape[1], grid_.shape[2]}))
      throw InvalidCase("n=" + std::to_string(n_) + " is less than a dimension of the grid");
    if (style_ == "mpi" && std::max({a_.elements(), b_.elements(), c_.elements()}) > INT_MAX)
      throw InvalidCase("n=" + std::to_string(n_) + " gives blocks that MPI_Allgatherv cannot count");
  }
  ~MatrixMultiplication() override {
    for (MPI_Comm& line : lines_)
      if (line != MPI_COMM_NULL) MPI_Comm_free(&line);
  }

  // Writes small integers, so that products are exact, and computes the expected product of C and a vector.
  void fill(const Payload& payload) override {
    seed_ = payload.seed;
    write_local_part(a_block_, a_, range(0).begin, range(2).begin, 0);
    write_local_part(b_block_, b_, range(2).begin, range(1).begin, 1);
    std::fill(sums_.begin(), sums_.end(), T{-1});
    weights_.resize(c_.columns);
    for (std::size_t j = 0; j < c_.columns; ++j)
      weights_[j] = static_cast<double>(mix(seed_ + range(1).begin + j) >> 56);
    std::vector<double> b_times_vector(n_);
    for (std::size_t k = 0; k < n_; ++k)
      for (std::size_t j = 0; j < c_.columns; ++j)
        b_times_vector[k] += element(1, k, range(1).begin + j) * weights_[j];
    expected_.assign(local_rows().size(), 0);
    for (std::size_t i = 0; i < expected_.size(); ++i)
      for (std::size_t k = 0; k < n_; ++k)
        expected_[i] += element(0, range(0).begin + local_rows().begin + i, k) * b_times_vector[k];
  }

  // Freivalds' check: C x = A (B x) for a vector x of random integers.
  Check verify(const Payload&) override {
    Check result;
    result.bytes = sums_.size() * sizeof(T);
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < c_.columns; ++j)
        sum += static_cast<double>(sums_[i * c_.columns + j]) * weights_[j];
      if (sum == expected_[i]) continue;
      ++result.errors;
      if (result.first.empty())
        result.first =
            "product: row " + std::to_string(range(0).begin + local_rows().begin + i) + " is wrong";
    }
    std::fill(sums_.begin(), sums_.end(), T{-1});
    return result;
  }

  std::uint64_t bytes_moved() const override { return 0; }
  void report(MetricValues& values) override {
    KernelBase::report(values);
    values.label("local_multiplication", local::multiplication());
  }

 private:
  // ---- Elements ----
  Range range(std::size_t dimension) const { return part_of(n_, grid_.shape[dimension], place_[dimension]); }
  Range local_rows() const { return part_of(c_.rows, c_.owners, c_.index); }
  double element(std::uint64_t matrix, std::size_t row, std::size_t column) const {
    return static_cast<double>(mix(seed_ ^ ((matrix * n_ + row) * n_ + column)) >> 60) - 7;
  }
  // Writes this rank's part of a block that begins at (row, column), and clears the other parts.
  void write_local_part(std::vector<T>& to, const DistributedBlock& block, std::size_t row,
                        std::size_t column, std::uint64_t matrix) const {
    std::fill(to.begin(), to.end(), T{0});
    const std::size_t begin = block.begin(block.index);
    for (std::size_t at = begin; at < begin + block.count(block.index); ++at)
      to[at] = static_cast<T>(element(matrix, row + at / block.columns, column + at % block.columns));
  }

  static std::span<const T> index(const DistributedBlock& block_layout, const std::vector<T>& block) {
    return std::span(block).subspan(block_layout.begin(block_layout.index),
                                    block_layout.count(block_layout.index));
  }

  // ---- Ranks of this rank's lines ----
  int rank_along(std::size_t dimension, std::size_t number) const {
    std::array<std::size_t, 3> place = place_;
    place[dimension] = number;
    return static_cast<int>(grid_.rank_at(place[0], place[1], place[2]));
  }

  // ---- Local computation ----
  // Computes the product of the blocks, directly into the result if it need not
  // be summed.
  void multiply() {
    std::vector<T>& to = c_.owners == 1 ? sums_ : product_;
    std::fill(to.begin(), to.end(), T{0});
    local::multiply_add(local::Matrix<const T>{a_block_.data(), a_.rows, a_.columns, a_.columns},
                        local::Matrix<const T>{b_block_.data(), b_.rows, b_.columns, b_.columns},
                        local::Matrix<T>{to.data(), c_.rows, c_.columns, c_.columns});
    ledger_.compute(
        2.0 * static_cast<double>(c_.rows) * static_cast<double>(c_.columns) * static_cast<double>(b_.rows),
        rate_);
  }
  void begin_sum() {
    const auto index = product_.begin() + offset(c_.begin(c_.index));
    std::copy(index, index + offset(sums_.size()), sums_.begin());
  }
  // Adds the part received from number `source`, counted without this rank.
  void add(std::size_t source) {
    const T* const summands = partial_.data() + source * sums_.size();
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += summands[i];
    ledger_.compute(static_cast<double>(sums_.size()), rate_);
  }
  static std::ptrdiff_t offset(std::size_t elements) { return static_cast<std::ptrdiff_t>(elements); }

  // ---- BSP ----
  void register_areas(bsp::Process& bsp) override {
    a_area_.emplace(bsp, std::span(a_block_));
    b_area_.emplace(bsp, std::span(b_block_));
    partial_area_.emplace(bsp, std::span(partial_));
  }
  void run_bsp(bsp::Process& bsp) override {
    for (std::size_t j = 0; j < a_.owners; ++j)
      if (j != a_.index)
        this->template put<T>(bsp, rank_along(1, j), index(a_, a_block_), *a_area_, a_.begin(a_.index));
    for (std::size_t i = 0; i < b_.owners; ++i)
      if (i != b_.index)
        this->template put<T>(bsp, rank_along(0, i), index(b_, b_block_), *b_area_, b_.begin(b_.index));
    sync(bsp);
    multiply();
    for (std::size_t k = 0; k < c_.owners; ++k) {
      if (k == c_.index) continue;
      const std::size_t source = c_.index - (c_.index > k ? 1 : 0);
      this->template put<T>(bsp, rank_along(2, k),
                            std::span<const T>(product_).subspan(c_.begin(k), c_.count(k)), *partial_area_,
                            source * c_.count(k));
    }
    // Required even with a single layer: no rank may put blocks of the next product while another rank needs
    // the current ones.
    sync(bsp);
    if (c_.owners == 1) return;
    begin_sum();
    for (std::size_t source = 0; source + 1 < c_.owners; ++source) add(source);
  }

  // ---- BPRAM: rotations along the lines ----
  void run_bpram(bpram::Process& bpram) override {
    gather(bpram, 1, a_, a_block_);
    gather(bpram, 0, b_, b_block_);
    multiply();
    if (c_.owners == 1) return;
    begin_sum();
    for (std::size_t distance = 1; distance < c_.owners; ++distance) {
      const std::size_t to = (c_.index + distance) % c_.owners;
      exchange<T>(bpram, rank_along(2, to), std::span<const T>(product_).subspan(c_.begin(to), c_.count(to)),
                  std::span(partial_).first(sums_.size()));
      add(0);
    }
  }
  void gather(bpram::Process& bpram, std::size_t dimension, const DistributedBlock& block_layout,
              std::vector<T>& block) {
    for (std::size_t distance = 1; distance < block_layout.owners; ++distance) {
      const std::size_t to = (block_layout.index + distance) % block_layout.owners;
      const std::size_t from = (block_layout.index + block_layout.owners - distance) % block_layout.owners;
      exchange<T>(bpram, rank_along(dimension, to), index(block_layout, block),
                  std::span(block).subspan(block_layout.begin(from), block_layout.count(from)));
    }
  }

  // ---- MPI ----
  void make_communicators() override {
    for (std::size_t dimension = 0; dimension < 3 && lines_[dimension] == MPI_COMM_NULL; ++dimension)
      MPI_Comm_split(comm_.handle, rank_along(dimension, 0), static_cast<int>(place_[dimension]),
                     &lines_[dimension]);
  }
  void run_mpi() override {
    allgather(a_, a_block_, lines_[1]);
    allgather(b_, b_block_, lines_[0]);
    multiply();
    if (c_.owners == 1) return;
    std::vector<int> counts;
    for (std::size_t k = 0; k < c_.owners; ++k) counts.push_back(static_cast<int>(c_.count(k)));
    ledger_.end_computing();
    MPI_Reduce_scatter(product_.data(), sums_.data(), counts.data(), mpi_type<T>(), MPI_SUM, lines_[2]);
    const std::uint64_t bytes = (c_.elements() - sums_.size()) * sizeof(T);
    ledger_.end_superstep(bytes, bytes, 1, 0);
    ledger_.compute(static_cast<double>(c_.owners - 1) * static_cast<double>(sums_.size()), rate_);
  }
  void allgather(const DistributedBlock& block_layout, std::vector<T>& block, MPI_Comm line) {
    if (block_layout.owners == 1) return;
    std::vector<int> counts, places;
    for (std::size_t owner = 0; owner < block_layout.owners; ++owner) {
      counts.push_back(static_cast<int>(block_layout.count(owner)));
      places.push_back(static_cast<int>(block_layout.begin(owner)));
    }
    ledger_.end_computing();
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, block.data(), counts.data(), places.data(),
                   mpi_type<T>(), line);
    const std::size_t bytes = index(block_layout, block).size_bytes();
    ledger_.end_superstep(bytes * (block_layout.owners - 1), block_layout.elements() * sizeof(T) - bytes, 1,
                          0);
  }

  const std::size_t n_;
  const double rate_;
  const Grid grid_;
  const std::array<std::size_t, 3> place_;
  const DistributedBlock a_;
  const DistributedBlock b_;
  const DistributedBlock c_;
  std::vector<T> a_block_;  // this rank's part is constant, the others are received
  std::vector<T> b_block_;
  std::vector<T> product_;
  std::vector<T> partial_;  // received from the other ranks of line (i, j, *)
  std::vector<T> sums_;     // this rank's part of C
  std::uint64_t seed_ = 0;
  std::vector<double> weights_;
  std::vector<double> expected_;  // C times the vector of weights, restricted to this block's columns
  std::optional<bsp::Area<T>> a_area_;
  std::optional<bsp::Area<T>> b_area_;
  std::optional<bsp::Area<T>> partial_area_;
  std::array<MPI_Comm, 3> lines_{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
};

std::unique_ptr<Workload> make_multiplication(const Place& place, const Values& values) {
  if (values.word("type") == "double") return std::make_unique<MatrixMultiplication<double>>(place, values);
  return std::make_unique<MatrixMultiplication<float>>(place, values);
}

constexpr Parameter matrix_multiplication_parameters[] = {
    {"n", Kind::integer, "", "256", 1, 1e6, "", "rows and columns of the matrices"},
    {"type", Kind::choice, "", "double", 0, 0, "double|float", "type of the elements: 8 or 4 bytes"},
    style_parameter,
    packet_parameter,
    {"grid", Kind::text, "", "auto", 0, 0, "auto|N:N:N",
     "grid of the ranks: parts of the rows of A, of the columns of B, and of the inner dimension"},
    rate_of("rate", "simulated machines: multiplications and additions per second, both counted"),
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo matrix_multiplication{
    .name = "matrix_multiplication",
    .role = "bsp-kernel",
    .operation = "matrix multiplication",
    .size = "n",
    .help = "product of two square matrices, each of which is divided among the ranks",
    .time = "one product, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = matrix_multiplication_parameters,
    .metrics = ledger_metrics,
    .make = make_multiplication,
};

}  // namespace hockney::kernels
