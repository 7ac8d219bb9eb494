// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "replay/links.hpp"

#include <algorithm>
#include <limits>

namespace hockney::replay {
namespace {

// Shares, and ends of transfers, count as equal below this relative difference.
constexpr double kTolerance = 1e-9;

}  // namespace

Links::Links(std::span<const double> rates) : links_(rates.size()) {
  double fastest = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    links_[i].capacity = rates[i];
    fastest = std::max(fastest, rates[i]);
  }
  almost_ = kTolerance * fastest * 1e-3;
}

void Links::add(std::uint32_t message, std::span<const std::uint32_t> route, double bytes, double now) {
  const std::uint32_t number = numbers_.take();
  if (number == flows_.size()) flows_.emplace_back();
  Flow& flow = flows_[number];
  flow.message = message;
  flow.number = added_++;
  flow.left = bytes;
  flow.rate = 0;
  flow.since = now;
  flow.route = route;
  flow.at.clear();
  for (std::uint32_t i = 0; i < route.size(); ++i) {
    Link& link = links_[route[i]];
    flow.at.push_back(static_cast<std::uint32_t>(link.flows.size()));
    link.flows.push_back({number, i});
    change(route[i]);
  }
  flow.place = static_cast<std::uint32_t>(queue_.size());
  queue_.push_back({std::numeric_limits<double>::infinity(), number});
}

double Links::next_end(double now) {
  if (!changed_.empty()) share(now);
  return queue_.empty() ? std::numeric_limits<double>::infinity() : queue_.front().time;
}

const std::vector<std::uint32_t>& Links::ended(double now) {
  over_.clear();
  messages_.clear();
  while (!queue_.empty()) {
    const End first = queue_.front();
    const Flow& flow = flows_[first.flow];
    if (first.time > now && flow.left - flow.rate * (now - flow.since) > almost_) break;
    over_.push_back(first.flow);
    remove(first.flow);
  }
  std::sort(over_.begin(), over_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return flows_[a].number < flows_[b].number; });
  for (const std::uint32_t flow : over_) {
    messages_.push_back(flows_[flow].message);
    numbers_.give(flow);
  }
  return messages_;
}

void Links::change(std::uint32_t link) {
  if (links_[link].changed) return;
  links_[link].changed = true;
  changed_.push_back(link);
}

void Links::remove(std::uint32_t number) {
  Flow& flow = flows_[number];
  for (std::uint32_t i = 0; i < flow.route.size(); ++i) {
    std::vector<Entry>& others = links_[flow.route[i]].flows;
    others[flow.at[i]] = others.back();
    flows_[others[flow.at[i]].flow].at[others[flow.at[i]].link] = flow.at[i];
    others.pop_back();
    change(flow.route[i]);
  }
  const End last = queue_.back();
  queue_.pop_back();
  if (last.flow != number) move(flow.place, last);
}

// Computes new rates for all transfers that are connected to a changed link through shared links, by
// progressive filling: the links with the smallest share per transfer determine the rates of their transfers,
// then the remaining bandwidth is shared by the remaining transfers.
void Links::share(double now) {
  ++visit_;
  component_.clear();
  for (const std::uint32_t link : changed_) {
    links_[link].changed = false;
    links_[link].visit = visit_;
    component_.push_back(link);
  }
  changed_.clear();
  for (std::size_t i = 0; i < component_.size(); ++i) {
    Link& link = links_[component_[i]];
    link.left = link.capacity;
    link.users = static_cast<std::uint32_t>(link.flows.size());
    for (const Entry& each : link.flows) {
      Flow& flow = flows_[each.flow];
      if (flow.visit == visit_) continue;
      flow.visit = visit_;
      flow.fixed = false;
      for (const std::uint32_t other : flow.route) {
        if (links_[other].visit == visit_) continue;
        links_[other].visit = visit_;
        component_.push_back(other);
      }
    }
  }
  const auto later = [](const Share& a, const Share& b) { return a.rate > b.rate; };
  shares_.clear();
  for (const std::uint32_t link : component_)
    if (links_[link].users > 0) shares_.push_back({links_[link].left / links_[link].users, link});
  std::make_heap(shares_.begin(), shares_.end(), later);
  double least = 0;
  while (!shares_.empty()) {
    std::pop_heap(shares_.begin(), shares_.end(), later);
    const Share first = shares_.back();
    shares_.pop_back();
    const Link& link = links_[first.link];
    if (link.users == 0) continue;
    const double rate = std::max(link.left, 0.0) / link.users;
    if (rate > first.rate * (1 + kTolerance)) {  // others have been fixed since
      shares_.push_back({rate, first.link});
      std::push_heap(shares_.begin(), shares_.end(), later);
      continue;
    }
    if (rate > least * (1 + kTolerance)) least = rate;
    fix(first.link, least, now);
  }
}

void Links::fix(std::uint32_t number, double rate, double now) {
  for (const Entry& each : links_[number].flows) {
    Flow& flow = flows_[each.flow];
    if (flow.fixed) continue;
    flow.fixed = true;
    for (const std::uint32_t other : flow.route) {
      links_[other].left -= rate;
      --links_[other].users;
    }
    if (flow.rate == rate) continue;
    flow.left = std::max(flow.left - flow.rate * (now - flow.since), 0.0);
    flow.since = now;
    flow.rate = rate;
    move(flow.place, {now + flow.left / rate, each.flow});
  }
}

// Moves an end from a free position of the heap towards the front or the back.
void Links::move(std::uint32_t place, End end) {
  const auto put = [&](std::uint32_t at, const End& each) {
    queue_[at] = each;
    flows_[each.flow].place = at;
  };
  for (; place > 0 && end.time < queue_[(place - 1) / 2].time; place = (place - 1) / 2)
    put(place, queue_[(place - 1) / 2]);
  for (;;) {
    std::uint32_t child = 2 * place + 1;
    if (child >= queue_.size()) break;
    if (child + 1 < queue_.size() && queue_[child + 1].time < queue_[child].time) ++child;
    if (queue_[child].time >= end.time) break;
    put(place, queue_[child]);
    place = child;
  }
  put(place, end);
}

}  // namespace hockney::replay
