// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/invalid_case.hpp"
#include "io/folder.hpp"
#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/started.hpp"
#include "measure/workload.hpp"

namespace hockney::io {

inline constexpr Parameter file{
    "file",
    Kind::choice,
    "",
    "shared",
    0,
    0,
    "shared|each",
    "shared: one file that contains the parts of all ranks; each: one file per rank"};

inline constexpr Parameter calls{
    "calls",
    Kind::choice,
    "",
    "collective",
    0,
    0,
    "collective|independent",
    "collective: MPI_File_write_at_all and MPI_File_read_at_all; independent: MPI_File_write_at and "
    "MPI_File_read_at"};

inline constexpr Parameter pointer{
    "pointer",
    Kind::choice,
    "",
    "explicit",
    0,
    0,
    "explicit|individual|shared",
    "position in the file: explicit: an argument of the call (MPI_File_write_at); "
    "individual: each rank's file pointer (MPI_File_write); shared: the file pointer "
    "shared by all ranks (MPI_File_write_shared or, in rank order, "
    "MPI_File_write_ordered)"};

inline constexpr Metric file_metrics[] = {
    {"file_size", "B", OverRanks::max, Per::record, false, "size of the file that MPI-IO reports at the end"},
};

// Base class of file workloads: a new file, or one for each rank, which is removed at the end; memory for
// each rank's part; and the comparison with the file's contents. The calls are nonblocking if `request` is
// given.
class FileBase : public Workload, public NonblockingOperation {
 public:
  FileBase(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        shared_(values.word("file") == "shared"),
        collective_(values.word("calls") == "collective"),
        pointer_(parse_pointer(values)),
        folder_(io_folder(comm_)) {
    require_free_space(comm_, folder_, values.bytes());
    run_on_all_ranks(comm_, [&] {
      outgoing_.emplace(place.arena, values.bytes(), "hot");
      incoming_.emplace(place.arena, values.bytes(), "hot");
    });
    const std::string name = unused_name(comm_, folder_);
    file_ = open_new_file(comm_, shared_ ? comm_.handle : MPI_COMM_SELF,
                          shared_ ? name : name + "-" + std::to_string(comm_.rank), folder_);
  }
  ~FileBase() override { MPI_File_close(&file_); }

  // False because this rank's part of the shared file is read by another rank.
  bool keeps_payload() const override { return false; }
  // The total over all ranks.
  std::uint64_t bytes_moved() const override { return block_.bytes * static_cast<std::uint64_t>(comm_.size); }
  void report(MetricValues& values) override {
    MPI_Offset bytes = 0;
    note_error(MPI_File_get_size(file_, &bytes));
    values.set("file_size", static_cast<double>(bytes));
    values.label("folder", folder_);
  }

 protected:
  enum class Pointer { call, individual, shared };

  // The rank whose part is read: the right neighbor in a shared file, otherwise this rank.
  int neighbor() const { return shared_ ? (comm_.rank + 1) % comm_.size : comm_.rank; }
  // The rank whose part a read() returns; -1 if it may be any rank's.
  int source_rank() const {
    if (pointer_ != Pointer::shared || !shared_) return neighbor();
    return collective_ ? comm_.rank : any_rank;
  }
  MPI_Offset part_of(int rank) const {
    return shared_ ? static_cast<MPI_Offset>(block_.bytes) * rank : MPI_Offset{0};
  }
  Pointer pointer() const { return pointer_; }

  void note_error(int code) {
    if (code != MPI_SUCCESS) error_code_ = code;
  }

  // Resets the shared pointer, which calls advance, to the beginning.
  void rewind() {
    if (pointer_ == Pointer::shared) note_error(MPI_File_seek_shared(file_, 0, MPI_SEEK_SET));
  }

  void write(MPI_Request* request = nullptr) {
    std::byte* const from = outgoing_->next();
    const MPI_Offset at = part_of(comm_.rank);
    MPI_Status* const status = MPI_STATUS_IGNORE;
    const int count = block_.count;
    const MPI_Datatype type = block_.type;
    if (pointer_ == Pointer::individual) note_error(MPI_File_seek(file_, at, MPI_SEEK_SET));
    if (pointer_ == Pointer::call && collective_)
      note_error(request ? MPI_File_iwrite_at_all(file_, at, from, count, type, request)
                         : MPI_File_write_at_all(file_, at, from, count, type, status));
    else if (pointer_ == Pointer::call)
      note_error(request ? MPI_File_iwrite_at(file_, at, from, count, type, request)
                         : MPI_File_write_at(file_, at, from, count, type, status));
    else if (pointer_ == Pointer::individual && collective_)
      note_error(request ? MPI_File_iwrite_all(file_, from, count, type, request)
                         : MPI_File_write_all(file_, from, count, type, status));
    else if (pointer_ == Pointer::individual)
      note_error(request ? MPI_File_iwrite(file_, from, count, type, request)
                         : MPI_File_write(file_, from, count, type, status));
    else if (collective_)
      note_error(MPI_File_write_ordered(file_, from, count, type, status));
    else
      note_error(request ? MPI_File_iwrite_shared(file_, from, count, type, request)
                         : MPI_File_write_shared(file_, from, count, type, status));
  }

  void read(MPI_Request* request = nullptr) {
    std::byte* const to = incoming_->next();
    const MPI_Offset at = part_of(neighbor());
    MPI_Status* const status = MPI_STATUS_IGNORE;
    const int count = block_.count;
    const MPI_Datatype type = block_.type;
    if (pointer_ == Pointer::individual) note_error(MPI_File_seek(file_, at, MPI_SEEK_SET));
    if (pointer_ == Pointer::call && collective_)
      note_error(request ? MPI_File_iread_at_all(file_, at, to, count, type, request)
                         : MPI_File_read_at_all(file_, at, to, count, type, status));
    else if (pointer_ == Pointer::call)
      note_error(request ? MPI_File_iread_at(file_, at, to, count, type, request)
                         : MPI_File_read_at(file_, at, to, count, type, status));
    else if (pointer_ == Pointer::individual && collective_)
      note_error(request ? MPI_File_iread_all(file_, to, count, type, request)
                         : MPI_File_read_all(file_, to, count, type, status));
    else if (pointer_ == Pointer::individual)
      note_error(request ? MPI_File_iread(file_, to, count, type, request)
                         : MPI_File_read(file_, to, count, type, status));
    else if (collective_)
      note_error(MPI_File_read_ordered(file_, to, count, type, status));
    else
      note_error(request ? MPI_File_iread_shared(file_, to, count, type, request)
                         : MPI_File_read_shared(file_, to, count, type, status));
  }

  // Write and read at explicit offsets, independently of the pointer: this rank's part, and its neighbor's
  // part, of turn `part_turn`.
  void write_part(MPI_Offset part_turn = 0) {
    const MPI_Offset all = static_cast<MPI_Offset>(block_.bytes) * (shared_ ? comm_.size : 1);
    note_error(MPI_File_write_at(file_, part_of(comm_.rank) + part_turn * all, outgoing_->next(),
                                 block_.count, block_.type, MPI_STATUS_IGNORE));
  }
  void read_part() {
    note_error(MPI_File_read_at(file_, part_of(neighbor()), incoming_->next(), block_.count, block_.type,
                                MPI_STATUS_IGNORE));
  }

  // Makes the data of all writers visible to all readers (MPI-4.1, 14.6.1).
  void publish() {
    note_error(MPI_File_sync(file_));
    MPI_Barrier(comm_.handle);
    note_error(MPI_File_sync(file_));
  }

  // Checks that the data are from rank `from`; if they may be any rank's, that each rank has a different
  // rank's data.
  Check check_read(const Payload& payload, const char* description, int from) {
    if (error_code_ != MPI_SUCCESS)
      return {0, 1, "MPI-IO fails: " + error_text(std::exchange(error_code_, MPI_SUCCESS))};
    if (from != any_rank)
      return check_bytes(incoming_->current(), payload, static_cast<std::uint64_t>(from), description);
    Check found;
    int source = comm_.size;
    for (int rank = 0; rank < comm_.size && source == comm_.size; ++rank) {
      found = check_bytes(incoming_->current(), payload, static_cast<std::uint64_t>(rank), description);
      if (found.errors == 0) source = rank;
    }
    if (block_.bytes == 0) return found;
    std::vector<int> all(static_cast<std::size_t>(comm_.size));
    MPI_Allgather(&source, 1, MPI_INT, all.data(), 1, MPI_INT, comm_.handle);
    std::sort(all.begin(), all.end());
    for (int rank = 0; rank < comm_.size; ++rank)
      if (all[static_cast<std::size_t>(rank)] != rank && found.errors == 0)
        found += {0, 1, "two ranks have the same part of the file"};
    return found;
  }

  static constexpr int any_rank = -1;

  const Comm& comm_;
  const Block block_;
  const bool shared_;
  const bool collective_;
  const Pointer pointer_;
  const std::string folder_;
  std::optional<Buffer> outgoing_;
  std::optional<Buffer> incoming_;
  MPI_File file_ = MPI_FILE_NULL;

 private:
  // Parses the parameter, and rejects combinations for which MPI has no call.
  static Pointer parse_pointer(const Values& values) {
    const std::string& text = values.word("pointer");
    if (text == "shared" && values.word("calls") == "collective" && values.has("computing"))
      throw InvalidCase(
          "pointer=shared cannot be nonblocking with calls=collective (MPI has no MPI_File_iwrite_ordered); "
          "use "
          "calls=independent");
    return text == "individual" ? Pointer::individual : text == "shared" ? Pointer::shared : Pointer::call;
  }

  int error_code_ = MPI_SUCCESS;
};

}  // namespace hockney::io
