// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// TSPLIB files: G. Reinelt, TSPLIB - A Traveling Salesman Problem Library, ORSA Journal on Computing 3, 1991;
// the format is described in TSPLIB 95.
#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

#include "ensemble/problems/weights.hpp"
#include "ensemble/problems/words.hpp"
#include "hockney/annealing/travelling_salesman.hpp"

namespace hockney::annealing {
namespace {

const std::map<std::string, Metric> metrics{
    {"EUC_2D", Metric::euclidean}, {"CEIL_2D", Metric::ceiling}, {"ATT", Metric::pseudo_euclidean},
    {"MAN_2D", Metric::manhattan}, {"MAX_2D", Metric::maximum},  {"GEO", Metric::geographical},
};
constexpr const char* weight_types = "EUC_2D, CEIL_2D, ATT, MAN_2D, MAX_2D, GEO or EXPLICIT";

class Tsplib final {
 public:
  Tsplib(std::istream& in, const std::string& name) : words_{in, name} {
    instance_ = {name, "TSPLIB file " + name, std::nullopt};
  }

  TravellingSalesman read() {
    std::string key = words_.keyword();
    for (; !key.empty() && key != "EOF"; key = words_.keyword()) entry(key);
    if (key == "EOF") {
      const std::string extra_word = words_.next();
      if (!extra_word.empty()) words_.fail("syntax", "nothing after EOF", quote(extra_word));
    }
    if (size_ == 0) words_.fail("incomplete", "DIMENSION", "none in the file");
    if (weight_type_.empty()) words_.fail("incomplete", "EDGE_WEIGHT_TYPE", "none in the file");
    if (weight_type_ != "EXPLICIT") return {std::move(instance_), from_points()};
    if (matrix_.empty()) words_.fail("incomplete", "EDGE_WEIGHT_SECTION", "none in the file");
    return {std::move(instance_), Distances(size_, std::move(matrix_))};
  }

 private:
  void entry(const std::string& key) {
    if (key == "COMMENT") return comment(words_.read_remaining_line());
    if (key == "NAME") {
      words_.read_remaining_line();  // files are named differently: berlin52's name is "that", ulysses22's
                                     // ulysses22.tsp
    } else if (key == "TYPE") {
      const std::string type = words_.next();
      if (type != "TSP") words_.fail("unsupported", "TYPE TSP", quote(type));
      words_.read_remaining_line();  // si175 and two others have a name here
    } else if (key == "DIMENSION") {
      require_unique(size_ != 0, key);
      size_ = static_cast<int>(
          words_.integer(key, TravellingSalesman::least_cities, TravellingSalesman::most_cities));
    } else if (key == "EDGE_WEIGHT_TYPE") {
      require_unique(!weight_type_.empty(), key);
      weight_type_ = words_.next();
      if (weight_type_ != "EXPLICIT" && metrics.count(weight_type_) == 0)
        words_.fail("unsupported", weight_types, quote(weight_type_));
    } else if (key == "EDGE_WEIGHT_FORMAT") {
      require_unique(!format_.empty(), key);
      format_ = words_.next();
      if (format_ != "FUNCTION" && !matrix_shape(format_))
        words_.fail("unsupported", matrix_shapes(), quote(format_));
    } else if (key == "NODE_COORD_TYPE" || key == "DISPLAY_DATA_TYPE") {
      words_.read_remaining_line();  // implied by the weights, or for drawings only
    } else if (key == "NODE_COORD_SECTION") {
      require_unique(!points_.empty(), key);
      points_ = coordinates("NODE_COORD_SECTION");
    } else if (key == "DISPLAY_DATA_SECTION") {
      coordinates("DISPLAY_DATA_SECTION");
    } else if (key == "EDGE_WEIGHT_SECTION") {
      require_unique(!matrix_.empty(), key);
      weights();
    } else {
      words_.fail("syntax", "a keyword of TSPLIB for a symmetric instance", quote(key));
    }
    words_.end_line(key);
  }

  // Finds "optimum 3323" in a comment.
  void comment(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    if (text.rfind("optimum", 0) != 0) return;
    const std::size_t digits = text.find_first_of("0123456789");
    if (digits != std::string::npos && text.find_first_not_of(" :=", 7) == digits)
      instance_.optimum = static_cast<double>(std::stoll(text.substr(digits, 15)));
  }

  void require_unique(bool is_duplicate, const std::string& key) const {
    if (is_duplicate) words_.fail("syntax", key + " once", "a second one");
  }

  int known_size(const std::string& section) const {
    if (size_ == 0) words_.fail("incomplete", "DIMENSION before " + section, "none");
    return size_;
  }

  // Coordinates may list the nodes in any order, each once.
  std::vector<Distances::Point> coordinates(const std::string& section) {
    const int size = known_size(section);
    std::vector<Distances::Point> points(static_cast<std::size_t>(size));
    std::vector<bool> is_duplicate(points.size());
    for (int i = 1; i <= size; ++i) {
      std::string element_name = "node ";
      element_name.append(std::to_string(i)).append(" of ").append(std::to_string(size));
      const auto node = static_cast<std::size_t>(words_.integer(element_name, 1, size) - 1);
      const std::string place = " of node " + std::to_string(node + 1);
      if (is_duplicate[node])
        words_.fail("value", "each node once", "node " + std::to_string(node + 1) + " again");
      is_duplicate[node] = true;
      points[node].x = words_.number("the first coordinate" + place);
      points[node].y = words_.number("the second coordinate" + place);
    }
    return points;
  }

  void weights() {
    const int size = known_size("EDGE_WEIGHT_SECTION");
    if (size > TravellingSalesman::most_matrix_cities)
      words_.fail("unsupported", matrix_limit(), std::to_string(size));
    const std::optional<MatrixShape> shape = matrix_shape(format_);
    if (!shape)
      words_.fail("incomplete",
                  std::string("EDGE_WEIGHT_FORMAT before EDGE_WEIGHT_SECTION, ") + matrix_shapes(),
                  format_.empty() ? "none" : quote(format_));
    matrix_ = read_matrix(words_, *shape, size);
  }

  static std::string matrix_limit() {
    return "at most " + std::to_string(TravellingSalesman::most_matrix_cities) +
           " nodes for EXPLICIT or GEO weights";
  }

  Distances from_points() {
    const Metric metric = metrics.at(weight_type_);
    if (points_.empty()) words_.fail("incomplete", "NODE_COORD_SECTION", "none in the file");
    if (metric == Metric::geographical && size_ > TravellingSalesman::most_matrix_cities)
      words_.fail("unsupported", matrix_limit(), std::to_string(size_));
    if (!Distances::representable(metric, points_))
      words_.fail("value", "coordinates with distances below 2147483647", "larger ones");
    return {metric, std::move(points_)};
  }

  WordReader words_;
  Instance instance_;
  int size_ = 0;
  std::string weight_type_;
  std::string format_;
  std::vector<Distances::Point> points_;
  std::vector<std::int32_t> matrix_;
};

}  // namespace

TravellingSalesman read_tsplib(std::istream& in, const std::string& name) {
  return Tsplib(in, name).read();
}

}  // namespace hockney::annealing
