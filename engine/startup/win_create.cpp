// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/shared.hpp"
#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "startup/making.hpp"

namespace hockney::startup {
namespace {

class WinCreate final : public MakingBase {
 public:
  WinCreate(const Place& place, const Values& values)
      : MakingBase(place), memory_(parse_memory(values)), bytes_(static_cast<MPI_Aint>(values.bytes())) {
    run_on_all_ranks(comm_, [&] { own_memory_.emplace(place.arena, values.bytes(), "hot"); });
    // If MPI supports no windows at all, the case is rejected.
    MPI_Win window =
        make_window(comm_.handle, WaitPolicy(comm_.handle), [&](MPI_Win* end_s) { return make_one(end_s); });
    MPI_Win_free(&window);
  }

  void run() override {
    MPI_Win window;
    timed([&] { make_one(&window); }, [&] { MPI_Win_free(&window); });
  }

  // Creates another window, in which each rank puts a part of its memory into its right neighbor's.
  Check verify(const Payload& payload) override {
    if (bytes_ == 0) return {};
    MPI_Win window;
    make_one(&window);
    std::byte* const memory = memory_ == Memory::allocate ? base_ : own_memory_->next();
    const std::size_t bytes = std::min(static_cast<std::size_t>(bytes_), max_verified_bytes);
    std::vector<std::byte> expected_bytes(bytes);
    write_bytes(expected_bytes, payload, static_cast<std::uint64_t>(comm_.rank));
    const int right = (comm_.rank + 1) % comm_.size, left = (comm_.rank + comm_.size - 1) % comm_.size;
    MPI_Aint own_memory = 0, place = 0;
    if (memory_ == Memory::dynamic) {
      MPI_Win_attach(window, memory, bytes_);
      MPI_Get_address(memory, &own_memory);
      MPI_Sendrecv(&own_memory, 1, MPI_AINT, left, tag, &place, 1, MPI_AINT, right, tag, comm_.handle,
                   MPI_STATUS_IGNORE);
    }
    MPI_Win_fence(0, window);
    MPI_Put(expected_bytes.data(), static_cast<int>(bytes), MPI_BYTE, right, place, static_cast<int>(bytes),
            MPI_BYTE, window);
    MPI_Win_fence(0, window);
    const Check check = check_bytes({memory, bytes}, payload, static_cast<std::uint64_t>(left),
                                    "what was put into the window");
    if (memory_ == Memory::dynamic) MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
    return check;
  }

 private:
  enum class Memory { allocate, create, dynamic };
  static constexpr std::size_t max_verified_bytes = 4096;
  static constexpr int tag = 1;

  static Memory parse_memory(const Values& values) {
    const std::string& text = values.word("memory");
    return text == "create" ? Memory::create : text == "dynamic" ? Memory::dynamic : Memory::allocate;
  }

  int make_one(MPI_Win* end_s) {
    switch (memory_) {
      case Memory::allocate: return MPI_Win_allocate(bytes_, 1, MPI_INFO_NULL, comm_.handle, &base_, end_s);
      case Memory::create:
        return MPI_Win_create(own_memory_->next(), bytes_, 1, MPI_INFO_NULL, comm_.handle, end_s);
      case Memory::dynamic: break;
    }
    return MPI_Win_create_dynamic(MPI_INFO_NULL, comm_.handle, end_s);
  }

  const Memory memory_;
  const MPI_Aint bytes_;
  std::optional<Buffer> own_memory_;
  std::byte* base_ = nullptr;
};

constexpr Parameter win_create_parameters[] = {
    parameters::bytes("bytes of each rank's memory"),
    {"memory", Kind::choice, "", "allocate", 0, 0, "allocate|create|dynamic",
     "MPI_Win_allocate, MPI_Win_create, or MPI_Win_create_dynamic (to which no memory is attached)"},
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo win_create{
    .name = "win_create",
    .role = "start-up",
    .operation = "win_create",
    .size = "bytes",
    .help = "creation of a window for one-sided operations, then MPI_Win_free",
    .time = making_and_freeing,
    .parameters = win_create_parameters,
    .metrics = making_metrics,
    .make = make<WinCreate>,
};

}  // namespace hockney::startup
