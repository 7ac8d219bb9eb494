// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The least energy of N equal charges on a sphere (J. J. Thomson, Phil. Mag. 7, 1904), by ensemble simulated
// annealing on all ranks: charges [set-up [N]].
#include <mpi.h>

#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <hockney/annealing.hpp>
#include <vector>

namespace {

namespace annealing = hockney::annealing;

class Charges {
 public:
  using Point = std::array<double, 3>;
  using State = std::vector<Point>;
  // One charge moves to another point.
  struct Move {
    std::size_t charge;
    Point to;
  };

  explicit Charges(std::size_t count) : count_(count) {}

  State initial(annealing::Random& random) const {
    State state(count_);
    for (Point& point : state) point = near({0, 0, 0}, 1, random);
    return state;
  }

  double energy(const State& state) const {
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t j = 0; j < i; ++j) sum += 1 / distance(state[i], state[j]);
    return sum;
  }

  // A point in a box around the old one, moved to the sphere. Large and small boxes take turns, since small
  // moves are useful at low temperatures only.
  Move propose(const State& state, annealing::Random& random) const {
    const std::size_t charge = random.below(static_cast<std::uint32_t>(count_));
    const double size = std::ldexp(1.0, -static_cast<int>(random.below(8)));
    return {charge, near(state[charge], size, random)};
  }

  double change(const State& state, const Move& move) const {
    double sum = 0;
    for (std::size_t j = 0; j < count_; ++j)
      if (j != move.charge)
        sum += 1 / distance(move.to, state[j]) - 1 / distance(state[move.charge], state[j]);
    return sum;
  }

  void accept(State& state, const Move& move) const { state[move.charge] = move.to; }

  // States travel between ranks as bytes.
  std::size_t bytes() const { return count_ * sizeof(Point); }
  void save(const State& state, std::byte* out) const { std::memcpy(out, state.data(), bytes()); }
  void load(State& state, const std::byte* in) const { std::memcpy(state.data(), in, bytes()); }

 private:
  static double distance(const Point& a, const Point& b) {
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return std::sqrt(x * x + y * y + z * z);
  }

  static Point near(const Point& middle, double size, annealing::Random& random) {
    Point point = middle;
    for (double& x : point) x += size * (2 * random.uniform() - 1);
    const double length = distance(point, {0, 0, 0});
    for (double& x : point) x /= length;
    return point;
  }

  std::size_t count_;
};

void solve(int argc, char** argv) {
  annealing::Options options;
  options.setup = argc > 1 ? argv[1] : "original";
  options.walkers = 32;
  options.rounds = 100;
  options.speed = 0.3;
  const Charges problem(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 12);
  const auto result = annealing::anneal(problem, options, MPI_COMM_WORLD);

  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::printf("set-up %s: energy %.6f, digest %016" PRIx64 "\n", options.setup.c_str(), result.best_energy,
              result.digest);
  std::printf("%.2f s computation, %.2f s waiting\n", result.times.computation, result.times.waiting);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_SUCCESS;
  try {
    solve(argc, argv);
  } catch (const std::exception& error) {  // thrown on all ranks
    std::fprintf(stderr, "charges: %s\n", error.what());
    code = EXIT_FAILURE;
  }
  MPI_Finalize();
  return code;
}
