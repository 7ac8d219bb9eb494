// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <set>

#include "kernels/graph.hpp"
#include "kernels/grid.hpp"
#include "kernels/kernel_base.hpp"

namespace hockney::kernels {
namespace {

// Lengths of the shortest paths between all pairs of nodes, by blocks, on a plane of r x c ranks. Each
// iteration allows paths through a panel of nodes. The owner of the panel's diagonal block closes that block,
// and broadcasts it along its row and its column of ranks. These update the panel's rows and columns, and
// broadcast them along the columns and rows of ranks. Then all ranks update their blocks.
class ShortestPaths final : public KernelBase {
 public:
  ShortestPaths(const Place& place, const Values& values)
      : KernelBase(place, values),
        n_(static_cast<std::size_t>(values.integer("n"))),
        width_(static_cast<std::size_t>(values.integer("block"))),
        rate_(simulated_rate(values, "rate")),
        copy_rate_(simulated_rate(values, "copy_rate")),
        plane_(plane_grid(ranks_)),
        row_(static_cast<std::size_t>(comm_.rank) / plane_[1]),
        column_(static_cast<std::size_t>(comm_.rank) % plane_[1]),
        rows_(part_of(n_, plane_[0], row_)),
        columns_(part_of(n_, plane_[1], column_)) {
    if (n_ < plane_[1])
      throw InvalidCase("n=" + std::to_string(n_) + " is less than the " + std::to_string(plane_[1]) +
                        " columns of ranks");
    find_panels();
    if (style_ == "mpi" && max_width_ * std::max(rows_.size(), columns_.size()) > INT_MAX)
      throw InvalidCase("n=" + std::to_string(n_) + " gives panels that MPI_Bcast cannot count");
    input_.resize(rows_.size() * columns_.size());
    paths_.resize(input_.size());
    diagonal_.resize(max_width_ * max_width_);
    for (std::vector<float>& panel : row_panels_) panel.resize(max_width_ * columns_.size());
    for (std::vector<float>& panel : column_panels_) panel.resize(rows_.size() * max_width_);
  }
  ~ShortestPaths() override {
    if (row_comm_ != MPI_COMM_NULL) MPI_Comm_free(&row_comm_);
    if (column_comm_ != MPI_COMM_NULL) MPI_Comm_free(&column_comm_);
  }

  void fill(const Payload& payload) override {
    const Graph graph(n_, payload.seed);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t j = 0; j < columns_.size(); ++j)
        input_[i * columns_.size() + j] = graph.length(rows_.begin + i, columns_.begin + j);
    std::fill(paths_.begin(), paths_.end(), -1.0F);
  }
  Check verify(const Payload& payload) override {
    const Check found = Graph(n_, payload.seed)
                            .check(paths_.data(), rows_.begin, rows_.size(), columns_.begin, columns_.size(),
                                   payload, ++checks_);
    std::fill(paths_.begin(), paths_.end(), -1.0F);
    return found;
  }

 private:
  using View = local::Matrix<float>;
  using ConstView = local::Matrix<const float>;

  // Nodes whose diagonal block one rank owns.
  struct Panel {
    Range nodes;
    std::size_t row;     // row of ranks
    std::size_t column;  // column of ranks
  };

  // Panels end at the boundaries of the blocks of rows and columns, and are at most as wide as the case
  // requests.
  void find_panels() {
    std::set<std::size_t> boundaries;
    for (std::size_t i = 0; i < plane_[0]; ++i) boundaries.insert(part_of(n_, plane_[0], i).end);
    for (std::size_t j = 0; j < plane_[1]; ++j) boundaries.insert(part_of(n_, plane_[1], j).end);
    std::size_t row = 0;
    std::size_t column = 0;
    std::size_t begin = 0;
    for (const std::size_t end : boundaries) {
      while (part_of(n_, plane_[0], row).end <= begin) ++row;
      while (part_of(n_, plane_[1], column).end <= begin) ++column;
      const std::size_t max_panel = width_ ? width_ : n_;
      for (; begin < end; begin = panels_.back().nodes.end) {
        panels_.push_back({{begin, std::min(end, begin + max_panel)}, row, column});
        max_width_ = std::max(max_width_, panels_.back().nodes.size());
      }
    }
  }

  // ---- Blocks of this rank ----
  View full_view() { return {paths_.data(), rows_.size(), columns_.size(), columns_.size()}; }
  // The rows of a panel, on its row of ranks; the columns of a panel, on its column of ranks.
  View rows_of(const Panel& panel) {
    return full_view().part(panel.nodes.begin - rows_.begin, 0, panel.nodes.size(), columns_.size());
  }
  View columns_of(const Panel& panel) {
    return full_view().part(0, panel.nodes.begin - columns_.begin, rows_.size(), panel.nodes.size());
  }
  static ConstView packed(const std::vector<float>& block, std::size_t rows, std::size_t columns) {
    return {block.data(), rows, columns, columns};
  }
  void copy(ConstView from, std::vector<float>& to) {
    ledger_.copy(from.rows * from.columns * sizeof(float), copy_rate_);
    for (std::size_t i = 0; i < from.rows; ++i)
      std::copy_n(from.data + i * from.stride, from.columns,
                  to.begin() + static_cast<std::ptrdiff_t>(i * from.columns));
  }
  static ConstView read(View from) { return {from.data, from.rows, from.columns, from.stride}; }
  bool is_in_row(const Panel& panel) const { return panel.row == row_; }
  bool in_column(const Panel& panel) const { return panel.column == column_; }
  void count(std::size_t rows, std::size_t columns, std::size_t depth) {
    ledger_.compute(static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth),
                    rate_);
  }

  // ---- The three steps of an iteration ----
  void close_diagonal(const Panel& panel) {
    const std::size_t width = panel.nodes.size();
    if (!is_in_row(panel) || !in_column(panel)) return;
    const View diagonal = columns_of(panel).part(panel.nodes.begin - rows_.begin, 0, width, width);
    local::close_paths(diagonal);
    count(width, width, width);
    copy(read(diagonal), diagonal_);
  }
  // With a panel of one node there is nothing to close or to update.
  void update_panels(const Panel& panel) {
    const std::size_t width = panel.nodes.size();
    const ConstView diagonal = packed(diagonal_, width, width);
    if (is_in_row(panel)) {
      const View rows = rows_of(panel);
      for (const Range& range : remaining_columns(panel)) {
        if (width == 1 || range.size() == 0) continue;
        const View part = rows.part(0, range.begin, width, range.size());
        local::min_plus(diagonal, read(part), part);
        count(width, range.size(), width);
      }
      copy(read(rows), row_panels_[parity_]);
    }
    if (in_column(panel)) {
      const View columns = columns_of(panel);
      for (const Range& range : remaining_rows(panel)) {
        if (width == 1 || range.size() == 0) continue;
        const View part = columns.part(range.begin, 0, range.size(), width);
        local::min_plus(read(part), diagonal, part);
        count(range.size(), width, width);
      }
      copy(read(columns), column_panels_[parity_]);
    }
  }
  void update_all(const Panel& panel) {
    const std::size_t width = panel.nodes.size();
    const ConstView first = packed(column_panels_[parity_], rows_.size(), width);
    const ConstView second = packed(row_panels_[parity_], width, columns_.size());
    for (const Range& i : remaining_rows(panel))
      for (const Range& j : remaining_columns(panel)) {
        if (i.size() == 0 || j.size() == 0) continue;
        local::min_plus({first.data + i.begin * width, i.size(), width, width},
                        {second.data + j.begin, width, j.size(), second.stride},
                        full_view().part(i.begin, j.begin, i.size(), j.size()));
        count(i.size(), j.size(), width);
      }
  }
  // This rank's rows and columns that are not part of the panel, relative to its first.
  std::array<Range, 2> remaining_rows(const Panel& panel) const {
    return complement(rows_, is_in_row(panel) ? panel.nodes : Range{rows_.end, rows_.end});
  }
  std::array<Range, 2> remaining_columns(const Panel& panel) const {
    return complement(columns_, in_column(panel) ? panel.nodes : Range{columns_.end, columns_.end});
  }
  static std::array<Range, 2> complement(const Range& all, const Range& nodes) {
    return {Range{0, nodes.begin - all.begin}, Range{nodes.end - all.begin, all.size()}};
  }

  // `broadcast_diagonal(panel)` and `broadcast_panels(panel)` are the steps that depend on the style.
  template <class Diagonal, class Panels>
  void iterate(Diagonal broadcast_diagonal, Panels broadcast_panels) {
    std::copy(input_.begin(), input_.end(), paths_.begin());
    ledger_.copy(input_.size() * sizeof(float), copy_rate_);
    for (const Panel& panel : panels_) {
      parity_ = 1 - parity_;
      if (panel.nodes.size() > 1) {
        close_diagonal(panel);
        broadcast_diagonal(panel);
      }
      update_panels(panel);
      broadcast_panels(panel);
      update_all(panel);
    }
  }

  // ---- Binary trees ----
  // A step of a binomial tree over `size` ranks in a line, in which this rank has
  // number `index`, counted from the root. With `held` ranks that have the data, each of them sends to the
  // rank `held` places ahead.
  struct Edge {
    bool sends;
    bool receives;
  };
  static Edge edge(std::size_t index, std::size_t held, std::size_t size) {
    return {index < held && index + held < size, index >= held && index < 2 * held};
  }
  std::size_t place_in_row(const Panel& panel) const {
    return (column_ + plane_[1] - panel.column) % plane_[1];
  }
  std::size_t place_in_column(const Panel& panel) const { return (row_ + plane_[0] - panel.row) % plane_[0]; }
  int rank_further_in_row(std::size_t distance) const {
    return static_cast<int>(row_ * plane_[1] + (column_ + distance) % plane_[1]);
  }
  int further_in_column(std::size_t distance) const {
    return static_cast<int>((row_ + distance) % plane_[0] * plane_[1] + column_);
  }

  // ---- BSP: the trees of all rows and columns at the same time ----
  void register_areas(bsp::Process& bsp) override {
    diagonal_area_.emplace(bsp, std::span(diagonal_));
    for (std::size_t i = 0; i < 2; ++i) {
      row_areas_[i].emplace(bsp, std::span(row_panels_[i]));
      column_areas_[i].emplace(bsp, std::span(column_panels_[i]));
    }
  }
  void run_bsp(bsp::Process& bsp) override {
    iterate(
        [&](const Panel& panel) {
          const std::size_t elements = panel.nodes.size() * panel.nodes.size();
          trees(bsp, panel, is_in_row(panel), *diagonal_area_, elements, in_column(panel), *diagonal_area_,
                elements);
        },
        [&](const Panel& panel) {
          trees(bsp, panel, true, *column_areas_[parity_], rows_.size() * panel.nodes.size(), true,
                *row_areas_[parity_], panel.nodes.size() * columns_.size());
        });
  }
  // Broadcasts the first elements of one area along this rank's row, and of another area along its column, if
  // the rank participates.
  void trees(bsp::Process& bsp, const Panel& panel, bool in_rows, const bsp::Area<float>& row_area,
             std::size_t row_elements, bool in_columns, const bsp::Area<float>& column_area,
             std::size_t column_elements) {
    for (std::size_t held = 1; held < std::max(plane_[0], plane_[1]); held *= 2) {
      if (in_rows && edge(place_in_row(panel), held, plane_[1]).sends)
        put<float>(bsp, rank_further_in_row(held), row_area.span().first(row_elements), row_area, 0);
      if (in_columns && edge(place_in_column(panel), held, plane_[0]).sends)
        put<float>(bsp, further_in_column(held), column_area.span().first(column_elements), column_area, 0);
      sync(bsp);
    }
  }

  // ---- BPRAM: the trees of the rows, then those of the columns ----
  void run_bpram(bpram::Process& bpram) override {
    iterate(
        [&](const Panel& panel) {
          const auto block = std::span(diagonal_).first(panel.nodes.size() * panel.nodes.size());
          row_tree(bpram, panel, is_in_row(panel), block);
          column_tree(bpram, panel, in_column(panel), block);
        },
        [&](const Panel& panel) {
          row_tree(bpram, panel, true,
                   std::span(column_panels_[parity_]).first(rows_.size() * panel.nodes.size()));
          column_tree(bpram, panel, true,
                      std::span(row_panels_[parity_]).first(panel.nodes.size() * columns_.size()));
        });
  }
  void row_tree(bpram::Process& bpram, const Panel& panel, bool participates, std::span<float> block) {
    for (std::size_t held = 1; held < plane_[1]; held *= 2)
      tree_step(bpram, participates ? edge(place_in_row(panel), held, plane_[1]) : Edge{},
                rank_further_in_row(held), block);
  }
  void column_tree(bpram::Process& bpram, const Panel& panel, bool participates, std::span<float> block) {
    for (std::size_t held = 1; held < plane_[0]; held *= 2)
      tree_step(bpram, participates ? edge(place_in_column(panel), held, plane_[0]) : Edge{},
                further_in_column(held), block);
  }
  void tree_step(bpram::Process& bpram, Edge edge, int to, std::span<float> block) {
    step(bpram, edge.sends ? to : bpram::nobody,
         edge.sends ? std::as_bytes(block) : std::span<const std::byte>(), edge.receives,
         edge.receives ? std::as_writable_bytes(block) : std::span<std::byte>());
  }

  // ---- MPI ----
  void make_communicators() override {
    if (row_comm_ != MPI_COMM_NULL) return;
    MPI_Comm_split(comm_.handle, static_cast<int>(row_), static_cast<int>(column_), &row_comm_);
    MPI_Comm_split(comm_.handle, static_cast<int>(column_), static_cast<int>(row_), &column_comm_);
  }
  void run_mpi() override {
    iterate(
        [&](const Panel& panel) {
          const std::size_t elements = panel.nodes.size() * panel.nodes.size();
          ledger_.end_computing();
          if (is_in_row(panel)) broadcast(diagonal_, elements, panel.column, row_comm_);
          if (in_column(panel)) broadcast(diagonal_, elements, panel.row, column_comm_);
          ledger_.end_superstep(0, 0, 2, 0);
        },
        [&](const Panel& panel) {
          ledger_.end_computing();
          broadcast(column_panels_[parity_], rows_.size() * panel.nodes.size(), panel.column, row_comm_);
          broadcast(row_panels_[parity_], panel.nodes.size() * columns_.size(), panel.row, column_comm_);
          ledger_.end_superstep(0, 0, 2, 0);
        });
  }
  static void broadcast(std::vector<float>& block, std::size_t elements, std::size_t root, MPI_Comm comm) {
    MPI_Bcast(block.data(), static_cast<int>(elements), MPI_FLOAT, static_cast<int>(root), comm);
  }

  const std::size_t n_;
  const std::size_t width_;
  const double rate_;
  const double copy_rate_;
  const std::array<std::size_t, 2> plane_;
  const std::size_t row_;
  const std::size_t column_;
  const Range rows_;
  const Range columns_;
  std::vector<Panel> panels_;
  std::size_t max_width_ = 0;
  std::vector<float> input_;
  std::vector<float> paths_;
  std::vector<float> diagonal_;
  // Two of each, used in turn: unbuffered puts may arrive while the previous panels are still in use.
  std::array<std::vector<float>, 2> row_panels_;
  std::array<std::vector<float>, 2> column_panels_;
  std::size_t parity_ = 0;
  std::uint64_t checks_ = 0;
  std::optional<bsp::Area<float>> diagonal_area_;
  std::array<std::optional<bsp::Area<float>>, 2> row_areas_;
  std::array<std::optional<bsp::Area<float>>, 2> column_areas_;
  MPI_Comm row_comm_ = MPI_COMM_NULL;
  MPI_Comm column_comm_ = MPI_COMM_NULL;
};

constexpr Parameter shortest_paths_parameters[] = {
    {"n", Kind::integer, "", "128", 1, 1e6, "", "nodes of the graph"},
    {"block", Kind::integer, "", "0", 0, 1e6, "",
     "nodes of a panel, at most; 0: all that one rank has on the diagonal; 1: n iterations, in each of which "
     "a row and "
     "a column are broadcast"},
    style_parameter,
    packet_parameter,
    rate_of("rate", "simulated machines: additions, each with a minimum, per second"),
    copy_rate_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo shortest_paths{
    .name = "shortest_paths",
    .role = "bsp-kernel",
    .operation = "shortest paths",
    .size = "n",
    .help = "shortest paths between all pairs of nodes, by blocks on a grid of ranks",
    .time = "all paths, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = shortest_paths_parameters,
    .metrics = ledger_metrics,
    .make = make<ShortestPaths>,
};

}  // namespace hockney::kernels
