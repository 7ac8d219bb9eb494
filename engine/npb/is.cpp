// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "base/parts.hpp"
#include "npb/frame/array.hpp"
#include "npb/frame/kernel.hpp"
#include "npb/is/classes.hpp"
#include "npb/is/keys.hpp"

namespace hockney::npb {
namespace {

constexpr const char* is_phases[] = {"buckets", "exchange", "ranks"};
enum IsPhase : std::size_t { is_buckets, is_exchange, is_ranks };
constexpr int is_iterations = 10;

// Integer sort: in each iteration two keys change, and all keys are ranked. Every rank sorts its keys by
// bucket and sends them to the ranks that own the buckets, which count the values; buckets are assigned in
// ascending order, with about equal numbers of keys. A single rank only sorts if the counters exceed its
// cache.
class Is final : public Kernel {
 public:
  Is(const Place& place, const Values& values) : Kernel(place, values, is_phases) {
    class_ = class_of<IsClass>(is_classes, values);
    local_ = part_of(all_keys(), ranks(), static_cast<std::size_t>(comm_.rank));
    require_memory(3 * local_.size() * sizeof(Key) + (sizeof(std::int32_t) << class_.log2_values));
    keys_ = Array<Key>(local_.size());
    ranks_ = Array<std::int32_t>(std::size_t{1} << class_.log2_values);
    sorts_ = ranks() > 1 || ranks_.size() * sizeof(std::int32_t) > in_cache;
    if (sorts_) sorted_ = Array<Key>(capacity_for(local_.size()));
    if (ranks() > 1) received_ = Array<Key>(capacity_for(local_.size()));
    local_counts_.resize(buckets());
    totals_.resize(buckets());
    places_.resize(buckets());
    first_bucket_.resize(ranks() + 1);
    for (std::vector<int>* each : {&sent_keys_, &sent_bytes_, &sent_places_, &keys_from_, &bytes_, &at_})
      each->resize(ranks());
    count_bytes_.assign(ranks(), sizeof(int));
    for (std::size_t rank = 0; rank < ranks(); ++rank)
      count_places_.push_back(static_cast<int>(rank * sizeof(int)));
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(comm_.size); }
  std::size_t all_keys() const { return class_.keys; }
  std::size_t buckets() const { return std::size_t{1} << class_.log2_buckets; }
  Key values() const { return Key{1} << class_.log2_values; }
  int shift() const { return class_.log2_values - class_.log2_buckets; }

  // Capacity for keys from other ranks, whose number depends on their values. Unused pages take no memory.
  static std::size_t capacity_for(std::size_t keys) { return keys + keys / 8; }

  std::span<Key> local_keys() const { return {keys_.data(), keys_.size()}; }

  void reset() override {
    make_keys(local_keys(), local_.begin, values());
    found_ranks_.assign(is_iterations * class_.tests.size(), 0);
    // Without arithmetic the counts are kept, because they determine what is sent.
    if (!arithmetic_) count_by_bucket(local_keys(), shift(), local_counts_);
    for (std::size_t i = 0; i < class_.tests.size(); ++i) {
      const std::size_t index = class_.tests[i].index;
      tested_[i] = index >= local_.begin && index < local_.end ? keys_[index - local_.begin] : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, tested_.data(), static_cast<int>(tested_.size()), MPI_INT32_T, MPI_SUM,
                  comm_.handle);
  }

  void execute() override {
    const double local = static_cast<double>(local_.size());
    for (int i = 0; i < is_iterations; ++i) {
      account_.phase(is_buckets);
      change(static_cast<std::size_t>(i) + 1, i + 1);
      change(static_cast<std::size_t>(i) + 1 + is_iterations, values() - (i + 1));
      compute(counting_share * local, [&] { count_by_bucket(local_keys(), shift(), local_counts_); });
      totals_ = local_counts_;
      account_.sum(totals_.data(), static_cast<int>(totals_.size()));
      divide();
      compute(sorting_share * local, [&] {
        if (!sorts_) return;
        std::exclusive_scan(local_counts_.begin(), local_counts_.end(), places_.begin(), std::uint32_t{0});
        sort_by_bucket(local_keys(), shift(), places_, sorted_.data());
      });
      end_step();
      account_.phase(is_exchange);
      exchange();
      end_step();
      account_.phase(is_ranks);
      const std::array parts{retained_keys_, send_times_};
      const auto ranked = static_cast<double>(retained_keys_.size() + send_times_.size());
      compute((1 - counting_share - sorting_share) * ranked, [&] {
        compute_value_ranks(parts, min_value_, local_ranks());
        test(static_cast<std::size_t>(i));
      });
      end_iteration(i, is_iterations);
    }
  }

  // Sets the key at this index, counted over all ranks.
  void change(std::size_t index, Key value) {
    if (index < local_.begin || index >= local_.end) return;
    Key& key = keys_[index - local_.begin];
    if (!arithmetic_) {
      --local_counts_[static_cast<std::size_t>(key >> shift())];
      ++local_counts_[static_cast<std::size_t>(value >> shift())];
    }
    key = value;
  }

  // Assigns buckets to ranks, and counts this rank's keys in each of them.
  void divide() {
    std::size_t bucket = 0;
    std::int64_t keys = 0;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      first_bucket_[rank] = bucket;
      if (rank == static_cast<std::size_t>(comm_.rank)) lower_keys_ = keys;
      const auto target_count = static_cast<std::int64_t>(part_of(all_keys(), ranks(), rank).end);
      std::int64_t sent = 0;
      for (; bucket < buckets() && keys < target_count; ++bucket) {
        keys += totals_[bucket];
        sent += local_counts_[bucket];
      }
      sent_keys_[rank] = static_cast<int>(sent);
    }
    // Empty buckets at the end.
    first_bucket_[ranks()] = buckets();
    min_value_ = static_cast<Key>(first_bucket_[static_cast<std::size_t>(comm_.rank)] << shift());
    const std::size_t last = first_bucket_[static_cast<std::size_t>(comm_.rank) + 1];
    value_count_ = (last << shift()) - static_cast<std::size_t>(min_value_);
  }

  // Keys that stay on a rank are not copied.
  void exchange() {
    if (ranks() == 1) {
      retained_keys_ = sorts_ ? std::span<const Key>(sorted_.data(), local_.size()) : local_keys();
      return;
    }
    const auto rank = static_cast<std::size_t>(comm_.rank);
    account_.alltoall(sent_keys_.data(), count_bytes_, count_places_, keys_from_.data(), count_bytes_,
                      count_places_);
    const auto in_bytes = [](int keys) { return keys * static_cast<int>(sizeof(Key)); };
    std::transform(sent_keys_.begin(), sent_keys_.end(), sent_bytes_.begin(), in_bytes);
    std::transform(keys_from_.begin(), keys_from_.end(), bytes_.begin(), in_bytes);
    std::exclusive_scan(sent_bytes_.begin(), sent_bytes_.end(), sent_places_.begin(), 0);
    const auto retained_offset = static_cast<std::size_t>(sent_places_[rank]) / sizeof(Key);
    retained_keys_ = {sorted_.data() + retained_offset, static_cast<std::size_t>(sent_keys_[rank])};
    sent_bytes_[rank] = bytes_[rank] = 0;
    std::exclusive_scan(bytes_.begin(), bytes_.end(), at_.begin(), 0);
    const auto count = static_cast<std::size_t>(at_.back() + bytes_.back()) / sizeof(Key);
    const std::size_t all = retained_keys_.size() + count;
    if (all > received_.size()) received_ = Array<Key>(capacity_for(all));
    account_.alltoall(sorted_.data(), sent_bytes_, sent_places_, received_.data(), bytes_, at_);
    send_times_ = {received_.data(), count};
  }

  std::span<std::int32_t> local_ranks() { return {ranks_.data(), value_count_}; }

  void test(std::size_t iteration) {
    for (std::size_t i = 0; i < tested_.size(); ++i) {
      const std::int64_t value = tested_[i] - min_value_;
      if (value >= 0 && value < static_cast<std::int64_t>(value_count_))
        found_ranks_[iteration * tested_.size() + i] = lower_keys_ + ranks_[static_cast<std::size_t>(value)];
    }
  }

  std::vector<Answer> answers() override {
    const std::int64_t misplaced = count_misplaced();
    std::vector<std::int64_t> found_ranks = found_ranks_;
    found_ranks.push_back(misplaced);
    MPI_Allreduce(MPI_IN_PLACE, found_ranks.data(), static_cast<int>(found_ranks.size()), MPI_INT64_T,
                  MPI_SUM, comm_.handle);
    std::vector<Answer> answers{
        {"the number of keys out of order", static_cast<double>(found_ranks.back()), 0, 0}};
    for (int i = 0; i < is_iterations; ++i)
      for (std::size_t k = 0; k < class_.tests.size(); ++k) {
        const IsTest& test = class_.tests[k];
        const auto at = static_cast<std::size_t>(i) * class_.tests.size() + k;
        answers.push_back(
            {"the rank of key " + std::to_string(test.index) + " in iteration " + std::to_string(i + 1),
             static_cast<double>(found_ranks[at]), static_cast<double>(test.rank + (i + 1) * test.step), 0});
      }
    return answers;
  }

  // Sorts the keys by the ranks of their values. A key is misplaced if it is smaller than the preceding key,
  // on this or a lower rank.
  std::int64_t count_misplaced() {
    // Collects all keys in one array; the other array is used by messages.
    std::span<const Key> keys = retained_keys_;
    if (ranks() > 1) {
      std::copy(retained_keys_.begin(), retained_keys_.end(), received_.data() + send_times_.size());
      keys = {received_.data(), retained_keys_.size() + send_times_.size()};
    }
    Array<Key>& spare_keys = keys.data() == sorted_.data() ? received_ : sorted_;
    if (spare_keys.size() < keys.size()) spare_keys = Array<Key>(capacity_for(keys.size()));
    const std::span<Key> in_order(spare_keys.data(), keys.size());
    std::vector<std::int32_t> next(ranks_.data(), ranks_.data() + value_count_);
    for (const Key key : keys)
      in_order[static_cast<std::size_t>(next[static_cast<std::size_t>(key - min_value_)]++)] = key;
    const Key max_key = in_order.empty() ? 0 : in_order.back();
    Key before = 0;
    MPI_Exscan(&max_key, &before, 1, MPI_INT32_T, MPI_MAX, comm_.handle);
    if (comm_.root()) before = 0;
    std::int64_t misplaced_count = 0;
    for (const Key key : in_order) {
      misplaced_count += key < before;
      before = key;
    }
    return misplaced_count;
  }

  double official_operations() const override {
    return static_cast<double>(is_iterations) * static_cast<double>(all_keys());
  }

  // Changes a key in the middle, so that it becomes larger than some tested key.
  void flip() override {
    const int three_bits = class_.log2_values - 3;
    const auto unchanged = std::min<std::size_t>(2 * is_iterations + 1, keys_.size());
    const auto key = std::find_if(keys_.begin() + unchanged, keys_.end(),
                                  [&](Key each) { return each >> three_bits == 3; });
    if (key != keys_.end()) *key ^= values() / 2;
  }
  std::string decomposition() const override {
    return std::to_string(comm_.size) + " blocks of keys, then of buckets";
  }

  // Shares of the operations, by measured time.
  static constexpr double counting_share = 0.2, sorting_share = 0.5;
  static constexpr std::size_t in_cache = std::size_t{2} << 20;  // bytes

  IsClass class_ = is_classes[0];
  bool sorts_ = true;
  Range local_{};
  Array<Key> keys_, sorted_, received_;
  std::span<const Key> retained_keys_,
      send_times_;  // keys of this rank's buckets: its own, and those of other ranks
  std::vector<std::int64_t> local_counts_, totals_;  // number of keys in each bucket
  std::vector<std::uint32_t> places_;
  std::vector<std::size_t> first_bucket_;  // for each rank, and the end
  std::vector<int> count_bytes_, count_places_;
  std::vector<int> sent_keys_, sent_bytes_, sent_places_, keys_from_, bytes_, at_;
  std::int64_t lower_keys_ = 0;  // number of keys on lower ranks
  Key min_value_ = 0;            // minimum value on this rank
  std::size_t value_count_ = 0;  // number of values on this rank
  Array<std::int32_t> ranks_;
  std::array<Key, 5> tested_{};
  std::vector<std::int64_t> found_ranks_;  // ranks of the tested keys, in each iteration
};

constexpr auto is_parameters = kernel_parameters(
    "S|W|A|B|C|tiny", "2^16, 2^20, 2^23, 2^25, 2^27 or 1009 keys below 2^11, 2^16, 2^19, 2^21, 2^23 or 2^7");

}  // namespace

extern constinit const WorkloadInfo is = kernel_info(
    "is", "IS of the NAS Parallel Benchmarks: integers are ranked by buckets", is_parameters, make<Is>);

}  // namespace hockney::npb
