// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/invalid_case.hpp"
#include "base/memory.hpp"
#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
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
    "shared: one file, in which the ranks' parts follow one another; each: a file for each rank"};

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

inline constexpr Metric file_metrics[] = {
    {"file_size", "B", OverRanks::max, Per::record, false, "of a file, as MPI-IO reports it at the end"},
};

// The folder comes from the environment of the command, never from a case: the author of a plan must not be
// able to choose where files are written.
inline constexpr const char* folder_variable = "HOCKNEY_IO_FOLDER";

// Common to the file workloads: a new file, or one per rank, which is removed at the end; memory for each
// rank's part; and the comparison of the file's contents.
class FileBase : public Workload {
 public:
  FileBase(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        shared_(values.word("file") == "shared"),
        collective_(values.word("calls") == "collective"),
        folder_(folder(comm_)) {
    refuse_full(comm_, folder_, values.bytes());
    on_all(comm_, [&] {
      outgoing_.emplace(place.arena, values.bytes(), "hot");
      incoming_.emplace(place.arena, values.bytes(), "hot");
    });
    open();
  }
  ~FileBase() override { MPI_File_close(&file_); }

  // False because another rank reads what this rank writes into the shared file.
  bool keeps_payload() const override { return false; }
  // The total of all ranks.
  std::uint64_t bytes_moved() const override { return block_.bytes * static_cast<std::uint64_t>(comm_.size); }
  void report(MetricValues& values) override {
    MPI_Offset bytes = 0;
    note(MPI_File_get_size(file_, &bytes));
    values.set("file_size", static_cast<double>(bytes));
    values.label("folder", folder_);
  }

 protected:
  // The part of the right neighbor in a shared file; in a file per rank, this rank's own.
  int reads_from() const { return shared_ ? (comm_.rank + 1) % comm_.size : comm_.rank; }
  MPI_Offset part_of(int rank) const {
    return shared_ ? static_cast<MPI_Offset>(block_.bytes) * rank : MPI_Offset{0};
  }

  void note(int code) {
    if (code != MPI_SUCCESS) failed_ = code;
  }
  void write() {
    std::byte* const from = outgoing_->next();
    note(collective_ ? MPI_File_write_at_all(file_, part_of(comm_.rank), from, block_.count, block_.type,
                                             MPI_STATUS_IGNORE)
                     : MPI_File_write_at(file_, part_of(comm_.rank), from, block_.count, block_.type,
                                         MPI_STATUS_IGNORE));
  }
  void read() {
    std::byte* const to = incoming_->next();
    note(collective_ ? MPI_File_read_at_all(file_, part_of(reads_from()), to, block_.count, block_.type,
                                            MPI_STATUS_IGNORE)
                     : MPI_File_read_at(file_, part_of(reads_from()), to, block_.count, block_.type,
                                        MPI_STATUS_IGNORE));
  }

  // Makes the data of all writers visible to all readers (MPI-4.1, 14.6.1).
  void publish() {
    note(MPI_File_sync(file_));
    MPI_Barrier(comm_.handle);
    note(MPI_File_sync(file_));
  }

  Check compare(const Payload& payload, const char* what) {
    if (failed_ != MPI_SUCCESS)
      return {0, 1, "MPI-IO fails: " + text_of(std::exchange(failed_, MPI_SUCCESS))};
    return check_bytes(incoming_->taken(), payload, static_cast<std::uint64_t>(reads_from()), what);
  }

  const Comm& comm_;
  const Block block_;
  const bool shared_;
  const bool collective_;
  const std::string folder_;
  std::optional<Buffer> outgoing_;
  std::optional<Buffer> incoming_;
  MPI_File file_ = MPI_FILE_NULL;

 private:
  // Returns rank 0's text on every rank.
  static std::string shared_text(const Comm& comm, std::string text) {
    std::size_t length = text.size();
    comm.broadcast(length);
    text.resize(length);
    comm.broadcast(text.data(), length);
    return text;
  }

  static std::string folder(const Comm& comm) {
#ifdef HOCKNEY_SMPI
    throw InvalidCase("files cannot be simulated (the described machines have no disks)");
#endif
    const char* const named = std::getenv(folder_variable);
    const std::string folder = shared_text(comm, comm.root() && named ? named : "");
    if (folder.empty())
      throw InvalidCase(std::string("there is no folder to write to; set ") + folder_variable +
                        " to one that all ranks can write to");
    return folder;
  }

  // A full file system would cause failures during the measurement and affect other users, so a tenth of it
  // stays free.
  static void refuse_full(const Comm& comm, const std::string& folder, std::uint64_t bytes) {
    struct statvfs there{};
    const bool known = statvfs(folder.c_str(), &there) == 0;
    const double free = static_cast<double>(there.f_bavail) * static_cast<double>(there.f_frsize);
    const double needed = static_cast<double>(bytes) * comm.size;
    if (!comm.all(!comm.root() || !known || needed <= 0.9 * free))
      throw InvalidCase("files of " + readable_bytes(bytes) + " for each of " + std::to_string(comm.size) +
                        " ranks do not fit into " + folder);
  }

  static std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    return text;
  }

  // Never opens an existing file.
  void open() {
    const std::string unique =
        std::to_string(getpid()) + "-" + std::to_string(static_cast<std::int64_t>(date() * 1e6));
    std::string name = shared_text(comm_, folder_ + "/hockney-" + unique);
    if (!shared_) name += "-" + std::to_string(comm_.rank);
    constexpr int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    const int code =
        MPI_File_open(shared_ ? comm_.handle : MPI_COMM_SELF, name.c_str(), mode, MPI_INFO_NULL, &file_);
    if (comm_.all(code == MPI_SUCCESS)) return;
    if (code == MPI_SUCCESS) MPI_File_close(&file_);
    throw InvalidCase("no file can be made in " + folder_ +
                      (code == MPI_SUCCESS ? " by another rank" : ": " + text_of(code)));
  }

  int failed_ = MPI_SUCCESS;
};

}  // namespace hockney::io
