// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <vector>

#include "base/invalid_case.hpp"
#include "base/parts.hpp"
#include "npb/frame/array.hpp"
#include "npb/frame/kernel.hpp"
#include "npb/frame/random.hpp"
#include "npb/ft/classes.hpp"
#include "npb/ft/lines.hpp"

namespace hockney::npb {
namespace {

constexpr const char* ft_phases[] = {"initial", "z", "transposition", "planes", "checksum"};
enum FtPhase : std::size_t { ft_initial, ft_z, ft_transposition, ft_planes, ft_checksum };

// Returns exp(-4 alpha pi^2 k^2) for the wave numbers of n points, alpha = 1e-6.
std::vector<double> ft_decay(std::size_t n) {
  std::vector<double> factors(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double k = static_cast<double>(i) - (i >= n / 2 ? static_cast<double>(n) : 0.0);
    factors[i] = std::exp(-4e-6 * std::numbers::pi * std::numbers::pi * k * k);
  }
  return factors;
}

// Three-dimensional Fourier transforms: in each iteration, a spectrum decays and is transformed back. The
// spectrum is divided into slabs of y with all of z, the grid into slabs of z, so that all ranks exchange
// parts once for each transform. Slabs need not be equal.
class Ft final : public Kernel {
 public:
  Ft(const Place& place, const Values& values) : Kernel(place, values, ft_phases) {
    class_ = class_of<FtClass>(ft_classes, values);
    const std::size_t max_ranks = std::min(ny(), nz());
    if (ranks() > max_ranks)
      throw InvalidCase("ft class=" + std::string(class_.name) + " has " + std::to_string(max_ranks) +
                        " planes to share; use at most so many ranks");
    local_y_ = y_of(rank());
    local_z_ = z_of(rank());
    const std::size_t rows = 2 * nz() * local_y_.size() + (ranks() > 1 ? local_z_.size() * ny() : 0);
    require_memory(rows * row() * sizeof(double));
    spectrum_ = Array<double>(nz() * local_y_.size() * row());
    sent_ = Array<double>(nz() * local_y_.size() * row());
    if (ranks() > 1) received_ = Array<double>(local_z_.size() * ny() * row());
    grid_ = ranks() > 1 ? received_.data() : sent_.data();
    prepare_exchange();
  }

 private:
  std::size_t nx() const { return class_.points[0]; }
  std::size_t ny() const { return class_.points[1]; }
  std::size_t nz() const { return class_.points[2]; }
  std::size_t row() const { return 2 * nx(); }
  std::size_t ranks() const { return static_cast<std::size_t>(comm_.size); }
  std::size_t rank() const { return static_cast<std::size_t>(comm_.rank); }
  Range y_of(std::size_t rank) const { return part_of(ny(), ranks(), rank); }
  Range z_of(std::size_t rank) const { return part_of(nz(), ranks(), rank); }

  // Blocks for each rank: of the grid, its y of this rank's z; of the spectrum, its z of this rank's y.
  void prepare_exchange() {
    const auto bytes = [&](std::size_t rows) { return static_cast<int>(rows * row() * sizeof(double)); };
    for (std::size_t other = 0; other < ranks(); ++other) {
      const Range y = y_of(other), z = z_of(other);
      grid_bytes_.push_back(bytes(local_z_.size() * y.size()));
      grid_places_.push_back(bytes(local_z_.size() * y.begin));
      spectrum_bytes_.push_back(bytes(z.size() * local_y_.size()));
      spectrum_places_.push_back(bytes(z.begin * local_y_.size()));
    }
    grid_rows_.resize(local_z_.size() * ny());
    for (std::size_t k = 0; k < local_z_.size(); ++k)
      for (std::size_t other = 0; other < ranks(); ++other) {
        const Range y = y_of(other);
        double* block = grid_ + local_z_.size() * y.begin * row();
        for (std::size_t j = 0; j < y.size(); ++j)
          grid_rows_[k * ny() + y.begin + j] = block + (k * y.size() + j) * row();
      }
  }

  void reset() override {}

  void execute() override {
    const double n = static_cast<double>(nx() * ny() * nz());
    const double share_z = static_cast<double>(local_z_.size()) / static_cast<double>(nz());
    const double share_y = static_cast<double>(local_y_.size()) / static_cast<double>(ny());
    const double in_planes = std::log(static_cast<double>(nx() * ny()));
    const double in_z = std::log(static_cast<double>(nz()));

    compute(n * share_z * 14.8157, [&] {
      x_.emplace(nx());
      y_.emplace(ny());
      z_.emplace(nz());
      decay_x_ = ft_decay(nx());
      decay_y_ = ft_decay(ny());
      decay_z_ = ft_decay(nz());
      start();
    });
    account_.phase(ft_planes);
    compute(n * share_z * 7.19641 * in_planes, [&] { transform_planes(); });
    account_.phase(ft_transposition);
    if (ranks() > 1)
      account_.alltoall(grid_, grid_bytes_, grid_places_, spectrum_.data(), spectrum_bytes_,
                        spectrum_places_);
    account_.phase(ft_z);
    compute(n * share_y * 7.19641 * in_z, [&] { transform_z(); });

    const auto iterations = static_cast<int>(class_.checksums.size());
    sums_.assign(class_.checksums.size(), 0.0);
    for (int i = 0; i < iterations; ++i) {
      account_.phase(ft_z);
      compute(n * share_y * (5.23518 + 7.21113 * in_z), [&] { decay(); });
      end_step();
      account_.phase(ft_transposition);
      if (ranks() > 1)
        account_.alltoall(sent_.data(), spectrum_bytes_, spectrum_places_, grid_, grid_bytes_, grid_places_);
      end_step();
      account_.phase(ft_planes);
      compute(n * share_z * 7.21113 * in_planes, [&] { transform_planes_back(); });
      end_step();
      account_.phase(ft_checksum);
      std::complex<double> sum = 0;
      compute(0, [&] { sum = local_checksum(); });
      double parts[] = {sum.real(), sum.imag()};
      account_.sum(parts, 2);
      sums_[static_cast<std::size_t>(i)] = {parts[0] / n, parts[1] / n};
      end_iteration(i, iterations);
    }
  }

  // Generates random numbers: for each point the real part, then the imaginary one, x fastest.
  void start() {
    constexpr std::size_t rows_per_batch = 16;  // rows
    std::vector<double> numbers(rows_per_batch * row());
    for (std::size_t k = 0; k < local_z_.size(); ++k)
      for (std::size_t y = 0; y < ny(); y += rows_per_batch) {
        const std::size_t count = std::min(rows_per_batch, ny() - y);
        fill_random(numbers.data(), count * row(), 314159265, ((local_z_.begin + k) * ny() + y) * row());
        for (std::size_t j = 0; j < count; ++j) {
          double* to = grid_rows_[k * ny() + y + j];
          const double* from = numbers.data() + j * row();
          for (std::size_t x = 0; x < nx(); ++x) {
            to[x] = from[2 * x];
            to[nx() + x] = from[2 * x + 1];
          }
        }
      }
  }

  Rows plane(std::size_t k) const { return Rows(grid_rows_).subspan(k * ny(), ny()); }

  void transform_planes() {
    constexpr std::size_t rows_per_batch = Transform::lines;
    for (std::size_t k = 0; k < local_z_.size(); ++k) {
      for (std::size_t y = 0; y < ny(); y += rows_per_batch) {
        load_rows(plane(k).subspan(y, rows_per_batch), nx(), x_->values());
        x_->forward_message();
        store_rows(x_->values(), plane(k).subspan(y, rows_per_batch), nx());
      }
      for (std::size_t x = 0; x < nx(); x += rows_per_batch) {
        load_columns(plane(k), nx(), x, y_->values());
        y_->forward_message();
        store_columns(y_->values(), plane(k), nx(), x);
      }
    }
  }

  // Values that only the checksum reads stay in the order of the transform.
  void transform_planes_back() {
    constexpr std::size_t rows_per_batch = Transform::lines;
    for (std::size_t k = 0; k < local_z_.size(); ++k) {
      for (std::size_t x = 0; x < nx(); x += rows_per_batch) {
        load_columns(plane(k), nx(), x, y_->values());
        y_->inverse();
        store_columns(y_->values(), plane(k), nx(), x);
      }
      for (std::size_t y = 0; y < ny(); y += rows_per_batch) {
        load_rows(plane(k).subspan(y, rows_per_batch), nx(), x_->values());
        x_->inverse();
        store_in_transform_order(x_->values(), plane(k).subspan(y, rows_per_batch), nx());
      }
    }
  }

  std::vector<double*> rows_in_z(double* of, std::size_t j) const {
    std::vector<double*> rows(nz());
    for (std::size_t z = 0; z < nz(); ++z) rows[z] = of + (z * local_y_.size() + j) * row();
    return rows;
  }

  // Transforms in z, from the grid into the spectrum; only used on a single rank.
  void transform_z() {
    for (std::size_t j = 0; j < local_y_.size(); ++j) {
      const std::vector<double*> to = rows_in_z(spectrum_.data(), j);
      const std::vector<double*> from = ranks() > 1 ? to : rows_in_z(grid_, j);
      for (std::size_t x = 0; x < nx(); x += Transform::lines) {
        load_columns(from, nx(), x, z_->values());
        z_->forward_message();
        store_columns(z_->values(), to, nx(), x);
      }
    }
  }

  // Advances the spectrum, and transforms it back in z.
  void decay() {
    std::vector<double> factors(nz());
    for (std::size_t j = 0; j < local_y_.size(); ++j) {
      for (std::size_t z = 0; z < nz(); ++z) factors[z] = decay_y_[local_y_.begin + j] * decay_z_[z];
      const std::vector<double*> from = rows_in_z(spectrum_.data(), j);
      const std::vector<double*> to = rows_in_z(sent_.data(), j);
      for (std::size_t x = 0; x < nx(); x += Transform::lines) {
        load_scaled_columns(from, nx(), x, decay_x_.data(), factors.data(), z_->values());
        z_->inverse();
        store_columns(z_->values(), to, nx(), x);
      }
    }
  }

  std::complex<double> local_checksum() const {
    std::complex<double> sum = 0;
    for (std::size_t j = 1; j <= 1024; ++j) {
      const std::size_t z = 5 * j % nz();
      if (z < local_z_.begin || z >= local_z_.end) continue;
      const std::size_t x = j % nx(), y = 3 * j % ny();
      sum += std::complex<double>(inverse_value(x, y, z, 0), inverse_value(x, y, z, nx()));
    }
    return sum;
  }

  // A number stored by transform_planes_back(); `half` is 0 for the real part.
  double inverse_value(std::size_t x, std::size_t y, std::size_t z, std::size_t half) const {
    constexpr std::size_t rows_per_batch = Transform::lines;
    const std::size_t at = (half + x) * rows_per_batch + y % rows_per_batch;
    return plane(z - local_z_.begin)[y / rows_per_batch * rows_per_batch + at / row()][at % row()];
  }

  std::vector<Answer> answers() override {
    // With this tolerance, complex numbers deviate by at most 1e-12.
    constexpr double tolerance = 1e-12 / std::numbers::sqrt2;
    std::vector<Answer> found_ranks;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::complex<double> expected = class_.checksums[i];
      const std::string name = "part of checksum " + std::to_string(i + 1);
      found_ranks.push_back(
          {"the real " + name, sums_[i].real(), expected.real(), tolerance, std::abs(expected)});
      found_ranks.push_back(
          {"the imaginary " + name, sums_[i].imag(), expected.imag(), tolerance, std::abs(expected)});
    }
    return found_ranks;
  }

  double official_operations() const override {
    const double n = static_cast<double>(nx() * ny() * nz());
    const double iterations = static_cast<double>(class_.checksums.size());
    return n * (14.8157 + 7.19641 * std::log(n) + (5.23518 + 7.21113 * std::log(n)) * iterations);
  }
  void flip() override { flip_bit(spectrum_[0]); }
  std::string decomposition() const override {
    return std::to_string(comm_.size) + " slabs in z, " + std::to_string(comm_.size) + " in y for lines in z";
  }

  FtClass class_ = ft_classes[0];
  Range local_y_{}, local_z_{};
  std::vector<int> grid_bytes_, grid_places_, spectrum_bytes_, spectrum_places_;
  Array<double> spectrum_, sent_, received_;
  double* grid_ = nullptr;  // the blocks of all ranks' y, one after another
  std::vector<double*> grid_rows_;
  std::optional<Transform> x_, y_, z_;
  std::vector<double> decay_x_, decay_y_, decay_z_;
  std::vector<std::complex<double>> sums_;
};

constexpr auto ft_parameters = kernel_parameters(
    "S|W|A|B|C|tiny", "64^3, 128 x 128 x 32, 256 x 256 x 128, 512 x 256 x 256, 512^3 or 16 x 32 x 64 points");

}  // namespace

extern constinit const WorkloadInfo ft =
    kernel_info("ft", "FT of the NAS Parallel Benchmarks: Fourier transforms in three dimensions",
                ft_parameters, make<Ft>);

}  // namespace hockney::npb
