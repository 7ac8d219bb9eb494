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

MessageCosts::MessageCosts(const Description& description, std::size_t nodes)
    : between_(description.between),
      on_node_(description.on_node),
      hop_(description.hop),
      medium_(description.medium),
      eager_(description.eager),
      noise_(description.noise),
      faults_(description.faults),
      losses_(description.fault_seed),
      sending_until_(nodes, -1.0),
      detours_(description.detours) {
  if (description.messages_use_processors() || !detours_.empty())
    for (std::size_t node = 0; node < nodes; ++node) processors_.emplace_back(node, &detours_);
  for (const std::vector<Segment>* segments : {&between_, &on_node_})
    for (const Segment& operation_text : *segments)
      exchanges_cost_ =
          exchanges_cost_ || operation_text.exchange.seconds > 0 || operation_text.exchange.per_byte > 0;
}

const Segment& MessageCosts::segment(const Message& message) const {
  const std::vector<Segment>& all = message.from == message.to ? on_node_ : between_;
  std::size_t found = all.size() - 1;
  while (all[found].first > message.size) --found;
  return all[found];
}

MessageCosts::Rank& MessageCosts::rank(std::size_t number) {
  if (number >= ranks_.size()) ranks_.resize(number + 1);
  return ranks_[number];
}

double MessageCosts::before(const Message& message, bool isend, std::size_t number, double now) {
  const Segment& cost = segment(message);
  const double busy_s = (isend ? cost.isend : cost.send).at(message.size);
  if (!eager(message)) ++paid_overheads_[pair(message, sending_until_.size())];
  Rank& self = rank(number);
  // After the arrival of a large message its sender is free: both have waited for its end.
  const bool is_held = eager(message) || self.arrival_until > now;
  const double begin = free_at(message.from, now);
  const double ready = end_of(message.from, smpi::rank_of_actor(static_cast<long>(number)), begin, busy_s);
  const double start = is_held ? std::max(ready, self.free_at) : ready;
  self.free_at = start + cost.gap.at(message.size);
  self.arrival_until = start + cost.flight.at(message.size);
  if (exchanges_cost_ && eager(message)) {
    std::vector<Flight>& flights = flights_[pair(message, sending_until_.size())];
    const auto own_overheads =
        std::find_if(flights.begin(), flights.end(),
                     [&](const Flight& operation_text) { return operation_text.rank == number; });
    Flight& flight = own_overheads == flights.end() ? flights.emplace_back() : *own_overheads;
    flight = {number, message.size, self.arrival_until};
  }
  return start - now;
}

double MessageCosts::after(const Message& message, std::size_t number, double now) {
  const Segment& cost = segment(message);
  const double begin = free_at(message.to, now);
  double busy_s = begin - now + cost.receive.at(message.size);
  if (exchanges_cost_ && crosses_reply(message, number, now)) busy_s += cost.exchange.at(message.size);
  if (detours_.empty()) return busy_s;
  const std::size_t rank = smpi::rank_of_actor(static_cast<long>(number));
  return end_of(message.to, rank, begin, busy_s - (begin - now)) - now;
}

// Whether the receiver's own last message was still in flight, or had only just arrived, when this one
// arrived: an answer to it would have come a message's time later. This message must also have arrived just
// now. SimGrid does not report which message the request concerns: it is assumed to be the last one of this
// size between the two nodes.
bool MessageCosts::crosses_reply(const Message& message, std::size_t number, double now) {
  const Segment& cost = segment(message);
  const double one_way_s =
      cost.send.at(message.size) + cost.flight.at(message.size) + cost.receive.at(message.size);
  if (rank(number).arrival_until <= now - one_way_s / 2) return false;
  const std::vector<Flight>& flights = flights_[pair(message, sending_until_.size())];
  return std::any_of(flights.begin(), flights.end(), [&](const Flight& operation_text) {
    return operation_text.rank != number && operation_text.size == message.size &&
           operation_text.until > now - one_way_s;
  });
}

double MessageCosts::flight_s(const Message& message, const Route& route, double now) {
  const Segment& cost = segment(message);
  const double latency = (cost.flight.seconds + static_cast<double>(route.cables) * hop_) * noise_.factor();
  double time = latency + cost.flight.per_byte * message.size;
  if (!eager(message)) time = rendezvous_delay(message, cost, time, now);
  if (message.from != message.to) {
    time = faulty_s(message, time) + medium_delay(message.size, now);
    if (!processors_.empty()) {
      const double work = cost.processor.at(message.size);
      processors_[message.from].add(now, work);
      processors_[message.to].add(now + time, work);
      time += work;
    }
  }
  return time;
}

// A large message waits for its receiver, and both sides wait for its end, so SimGrid requests no overheads.
double MessageCosts::rendezvous_delay(const Message& message, const Segment& cost, double flight,
                                      double now) {
  double time = flight + cost.receive.at(message.size);
  const auto paid = paid_overheads_.find(pair(message, sending_until_.size()));
  if (paid == paid_overheads_.end())
    time += cost.send.at(message.size);
  else if (--paid->second == 0)
    paid_overheads_.erase(paid);
  // If two messages depart together, SimGrid requests the second one's costs while the first is in flight;
  // both sides wait for it.
  if (sending_until_[message.to] > now + flight / 2) time += cost.exchange.at(message.size);
  sending_until_[message.from] = std::max(sending_until_[message.from], now + flight);
  return time;
}

namespace {

bool concerns(const Fault& fault, const Message& message) {
  if (fault.is_uplink) {
    const auto is_below = [&](std::size_t node) {
      return std::find(fault.nodes.begin(), fault.nodes.end(), node) != fault.nodes.end();
    };
    return is_below(message.from) != is_below(message.to);
  }
  return std::all_of(fault.nodes.begin(), fault.nodes.end(),
                     [&](std::size_t node) { return node == message.from || node == message.to; });
}

}  // namespace

// The time in the network of a message that takes `time` seconds without faults.
double MessageCosts::faulty_s(const Message& message, double time) {
  double resend_s = 0;
  for (const Fault& fault : faults_) {
    if (!concerns(fault, message)) continue;
    time *= fault.slowdown;
    while (fault.loss > 0 && losses_.uniform() < fault.loss) resend_s += fault.resend;
  }
  return time + resend_s;
}

double MessageCosts::medium_delay(double size, double now) {
  if (medium_.seconds == 0 && medium_.per_byte == 0) return 0;
  medium_free_at_ = std::max(now, medium_free_at_) + medium_.at(size);
  return medium_free_at_ - now;
}

}  // namespace hockney::platform
