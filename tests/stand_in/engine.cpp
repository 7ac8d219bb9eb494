// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A tiny engine that implements the contract (contract/README.md) and misbehaves on request, for the tests of
// the front end. Its cases: quick, stuck (the last rank never responds), dies (the last rank kills itself),
// leaves (rank 0 exits), talks (noise).
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

static int rank = 0;
static int size = 1;
static char watchdog_line[512];

static void speak(int) {
  [[maybe_unused]] ssize_t n = write(2, watchdog_line, strlen(watchdog_line));
}

static void say(const std::string& line) {
  if (rank == 0) std::puts(line.c_str());
  std::fflush(stdout);
}

static std::string cpus() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Cpus_allowed_list:")) return line.substr(line.find('\t') + 1);
  return "";
}

static std::string gathered_ranks() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  char mine[512];
  std::snprintf(mine, sizeof mine, R"({"host":"%s","pid":%d,"cpus":"%s"})", host, static_cast<int>(getpid()),
                cpus().c_str());
  std::vector<char> all(sizeof mine * static_cast<std::size_t>(size));
  MPI_Gather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::string list;
  for (int r = 0; r < size; ++r)
    list += (r ? "," : "") + std::string(&all[sizeof mine * static_cast<std::size_t>(r)]);
  return list;
}

static void run(const std::string& line, int position, double hang) {
  say(R"({"kind":"start","case":")" + line + R"(","position":)" + std::to_string(position) + "}");
  const bool last = rank == size - 1;
  if (line.starts_with("stuck") && last) {
    for (;;) pause();
  } else if (line.starts_with("stuck")) {
    std::snprintf(watchdog_line, sizeof watchdog_line,
                  "hockney-watchdog rank=%d case=%s phase=timing repetition=7\n", rank, line.c_str());
    signal(SIGALRM, speak);
    ualarm(static_cast<useconds_t>(hang * 1e6), 0);
  }
  if (line.starts_with("dies") && last) {
    usleep(200000);  // the launcher drops output that it has not yet forwarded when a rank dies
    raise(SIGKILL);
  }
  if (line.starts_with("leaves") && rank == 0) _exit(3);
  if (line.starts_with("talks")) {
    std::fprintf(stderr, "rank %d talks\n", rank);
    say("the site's start-up script says hello");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  say(R"({"kind":"record","schema":1,"launch":"L","origin":"measured","position":)" +
      std::to_string(position) + R"(,"case":")" + line +
      R"(","started_s":1,"times_s":[1e-6],"batch":1,"warmup_s":[],"bytes_moved":0,"sync":{"kind":"none"},)"
      R"("stop":{"reason":"budget","precision":0.02,"achieved":null},"verified":{"bytes":0,"errors":0}})");
}

int main(int argc, char** argv) {
  std::string plan;
  bool hello = false;
  double hang = 60;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--catalog") {
      std::puts(R"({"schema":1,"engine":"stand-in","workloads":[]})");
      return 0;
    }
    if (word == "--hello") hello = true;
    if (word == "--plan") plan = argv[i + 1];
    if (word == "--hang") hang = std::stod(argv[i + 1]);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  library[strcspn(library, "\n\t\"")] = 0;
  if (hello) {
    std::printf("{\"rank\":%d,\"size\":%d,\"host\":\"here\",\"library\":\"%s\"}\n", rank, size, library);
  } else {
    std::ifstream file(plan);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    const std::string ranks = gathered_ranks();
    say(R"({"kind":"launch","schema":1,"launch":"L","index":0,"origin":"measured","started_s":1,"ranks":[)" +
        ranks + R"(],"mpi_standard":"3.1","library":")" + library +
        R"(","engine":"stand-in","compiler":"","clock":{"overhead_s":1e-8,"resolution_s":1e-9}})");
    int position = 0;
    for (const std::string& line : lines) run(line, position++, hang);
    say(R"({"kind":"end","cases":)" + std::to_string(position) + "}");
  }
  MPI_Finalize();
}
