// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "smpi/platform_costs.hpp"

#include <algorithm>

namespace hockney::platform {
namespace {

std::size_t pair(const Message& message, std::size_t nodes) {
  return message.from * nodes + message.to;
}

}  // namespace

Costs::Costs(const Description& description, std::size_t nodes)
    : between_(description.between),
      on_node_(description.on_node),
      hop_(description.hop),
      medium_(description.medium),
      eager_(description.eager),
      noise_(description.noise),
      sending_until_(nodes, -1.0),
      processors_(description.processors_work() ? nodes : 0) {
  for (const std::vector<Segment>* segments : {&between_, &on_node_})
    for (const Segment& each : *segments)
      exchanges_cost_ = exchanges_cost_ || each.exchange.seconds > 0 || each.exchange.per_byte > 0;
}

const Segment& Costs::segment(const Message& message) const {
  const std::vector<Segment>& all = message.from == message.to ? on_node_ : between_;
  std::size_t found = all.size() - 1;
  while (all[found].first > message.size) --found;
  return all[found];
}

Costs::Rank& Costs::rank(std::size_t number) {
  if (number >= ranks_.size()) ranks_.resize(number + 1);
  return ranks_[number];
}

double Costs::before(const Message& message, bool isend, std::size_t number, double now) {
  const Segment& cost = segment(message);
  const double busy = (isend ? cost.isend : cost.send).at(message.size);
  if (!eager(message)) ++overheads_paid_[pair(message, sending_until_.size())];
  Rank& self = rank(number);
  // A large message that has arrived leaves its sender free: both have waited for its end.
  const bool held = eager(message) || self.sent_until > now;
  const double begin = free(message.from, now);
  const double start = held ? std::max(begin + busy, self.free) : begin + busy;
  self.free = start + cost.gap.at(message.size);
  self.sent_until = start + cost.flight.at(message.size);
  if (exchanges_cost_ && eager(message)) {
    std::vector<Flight>& flights = flights_[pair(message, sending_until_.size())];
    const auto mine =
        std::find_if(flights.begin(), flights.end(), [&](const Flight& each) { return each.rank == number; });
    Flight& flight = mine == flights.end() ? flights.emplace_back() : *mine;
    flight = {number, message.size, self.sent_until};
  }
  return start - now;
}

double Costs::after(const Message& message, std::size_t number, double now) {
  const Segment& cost = segment(message);
  double busy = free(message.to, now) - now + cost.receive.at(message.size);
  if (exchanges_cost_ && met(message, number, now)) busy += cost.exchange.at(message.size);
  return busy;
}

// Whether the receiver's own last message was still under way when this one arrived, or had only just
// arrived: an answer to it would have come a message's time later. This message must also have arrived just
// now. SimGrid does not report which message it asks about: it is assumed to be the last one of this size
// between the two nodes.
bool Costs::met(const Message& message, std::size_t number, double now) {
  const Segment& cost = segment(message);
  const double one_way =
      cost.send.at(message.size) + cost.flight.at(message.size) + cost.receive.at(message.size);
  if (rank(number).sent_until <= now - one_way / 2) return false;
  const std::vector<Flight>& flights = flights_[pair(message, sending_until_.size())];
  return std::any_of(flights.begin(), flights.end(), [&](const Flight& each) {
    return each.rank != number && each.size == message.size && each.until > now - one_way;
  });
}

double Costs::under_way(const Message& message, const Way& way, double now) {
  const Segment& cost = segment(message);
  const double latency = (cost.flight.seconds + static_cast<double>(way.cables) * hop_) * noise_.factor();
  double time = latency + cost.flight.per_byte * message.size;
  if (!eager(message)) time = announced(message, cost, time, now);
  if (message.from != message.to) {
    time += on_medium(message.size, now);
    if (!processors_.empty()) {
      const double work = cost.processor.at(message.size);
      processors_[message.from].add(now, work);
      processors_[message.to].add(now + time, work);
      time += work;
    }
  }
  return time;
}

// A large message waits for its receiver, and both sides wait for its end, so SimGrid asks for no overheads.
double Costs::announced(const Message& message, const Segment& cost, double flight, double now) {
  double time = flight + cost.receive.at(message.size);
  const auto paid = overheads_paid_.find(pair(message, sending_until_.size()));
  if (paid == overheads_paid_.end())
    time += cost.send.at(message.size);
  else if (--paid->second == 0)
    overheads_paid_.erase(paid);
  // If two set out together, SimGrid asks for the second when the first is under way; both sides wait for it.
  if (sending_until_[message.to] > now + flight / 2) time += cost.exchange.at(message.size);
  sending_until_[message.from] = std::max(sending_until_[message.from], now + flight);
  return time;
}

double Costs::on_medium(double size, double now) {
  if (medium_.seconds == 0 && medium_.per_byte == 0) return 0;
  medium_free_ = std::max(now, medium_free_) + medium_.at(size);
  return medium_free_ - now;
}

}  // namespace hockney::platform
