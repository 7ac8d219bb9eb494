// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "io/folder.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::io {
namespace {

// Opens an existing file on all ranks together.
class FileOpen final : public Workload {
 public:
  FileOpen(const Place& place, const Values&)
      : comm_(place.comm), folder_(io_folder(comm_)), name_(unused_name(comm_, folder_)) {
    open_file_ = open_new_file(comm_, comm_.handle, name_, folder_);
  }
  ~FileOpen() override { MPI_File_close(&open_file_); }

  void run() override {
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(comm_.handle, name_.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS)
      MPI_File_close(&file);
    else
      ++error_code_;
  }

  // Checks that data written through one open file are visible through another.
  Check verify(const Payload& payload) override {
    if (error_code_) return {0, static_cast<std::uint64_t>(error_code_), "the file cannot be opened"};
    const std::uint64_t written = payload.seed + static_cast<std::uint64_t>(comm_.rank);
    const MPI_Offset offset = static_cast<MPI_Offset>(sizeof written) * comm_.rank;
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(comm_.handle, name_.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
      return {0, 1, "the file cannot be opened"};
    MPI_File_write_at_all(file, offset, &written, sizeof written, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    std::uint64_t actual = 0;
    MPI_File_sync(open_file_);
    MPI_File_read_at_all(open_file_, offset, &actual, sizeof actual, MPI_BYTE, MPI_STATUS_IGNORE);
    return {sizeof actual, actual == written ? 0U : 1U,
            actual == written ? "" : "what was written is not there"};
  }

  void report(MetricValues& values) override { values.label("folder", folder_); }

 private:
  const Comm& comm_;
  const std::string folder_;
  const std::string name_;
  MPI_File open_file_ = MPI_FILE_NULL;
  int error_code_ = 0;
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
