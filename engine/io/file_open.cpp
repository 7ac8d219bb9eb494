// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "io/folder.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::io {
namespace {

// A file that is there already, for all ranks together.
class FileOpen final : public Workload {
 public:
  FileOpen(const Place& place, const Values&)
      : comm_(place.comm), folder_(folder_of(comm_)), name_(new_name(comm_, folder_)) {
    kept_ = opened(comm_, comm_.handle, name_, folder_);
  }
  ~FileOpen() override { MPI_File_close(&kept_); }

  void run() override {
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(comm_.handle, name_.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS)
      MPI_File_close(&file);
    else
      ++failed_;
  }

  // What one open file gets another one has.
  Check verify(const Payload& payload) override {
    if (failed_) return {0, static_cast<std::uint64_t>(failed_), "the file cannot be opened"};
    const std::uint64_t written = payload.seed + static_cast<std::uint64_t>(comm_.rank);
    const MPI_Offset at = static_cast<MPI_Offset>(sizeof written) * comm_.rank;
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(comm_.handle, name_.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
      return {0, 1, "the file cannot be opened"};
    MPI_File_write_at_all(file, at, &written, sizeof written, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    std::uint64_t there = 0;
    MPI_File_sync(kept_);
    MPI_File_read_at_all(kept_, at, &there, sizeof there, MPI_BYTE, MPI_STATUS_IGNORE);
    return {sizeof there, there == written ? 0U : 1U,
            there == written ? "" : "what was written is not there"};
  }

  void report(MetricValues& values) override { values.label("folder", folder_); }

 private:
  const Comm& comm_;
  const std::string folder_;
  const std::string name_;
  MPI_File kept_ = MPI_FILE_NULL;
  int failed_ = 0;
};

constexpr Parameter file_open_parameters[] = {parameters::sync};

}  // namespace

extern constinit const WorkloadInfo file_open{
    .name = "file_open",
    .role = "io",
    .operation = "file_open",
    .help =
        "MPI_File_open of one file by all ranks, then MPI_File_close, in the folder "
        "$HOCKNEY_IO_FOLDER",
    .time = "the maximum over the ranks",
    .parameters = file_open_parameters,
    .make = make<FileOpen>,
};

}  // namespace hockney::io
