// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "emulated/room.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "emulated/links.hpp"
#include "emulated/medium.hpp"
#include "emulated/problem.hpp"
#include "emulated/relay.hpp"

namespace hockney::emulated {

namespace {

constexpr int of_a_host = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS;
constexpr const char* front_port = "pfront";

std::string host_name(int number) {
  return "h" + std::to_string(number);
}
std::string port_name(int number) {
  return "p" + std::to_string(number);
}

void write_file(const std::string& path, const std::string& text, const char* step) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  require(file >= 0, step);
  const ssize_t written = write(file, text.data(), text.size());
  close(file);
  require(written == static_cast<ssize_t>(text.size()), step);
}

// The user is root there, which gives the rights over the namespaces below it.
void enter_user_namespace() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  require(unshare(CLONE_NEWUSER) == 0, "user namespace");
  write_file("/proc/self/setgroups", "deny", "user namespace");
  write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1", "user namespace");
  write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1", "user namespace");
  // the rank's parents see root and refuse without it
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
}

// Root may lack the rights as well, as in a container.
void enter_namespaces() {
  constexpr int all = CLONE_NEWPID | of_a_host;
  if (geteuid() == 0) {
    if (unshare(all) == 0) return;
    require(errno == EPERM, "network namespace");
  }
  enter_user_namespace();
  require(unshare(all) == 0, "network namespace");
}

void mount_memory(const char* place) {
  require(mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0, "mount");
}

// In a new namespace: no IPv6, whose announcements would be on the wire.
void without_ipv6() {
  for (const char* which : {"all", "default"}) {
    const std::string file = std::string("/proc/sys/net/ipv6/conf/") + which + "/disable_ipv6";
    if (access(file.c_str(), F_OK) == 0) write_file(file, "1", "sysctl");
  }
}

void set_tcp(const Settings& settings) {
  // without losses, congestion control has nothing to do; cubic would leave slow start early when the delay
  // grows
  write_file("/proc/sys/net/ipv4/tcp_congestion_control", "reno", "sysctl");
  if (settings.send_buffer > 0) {
    const std::string most = std::to_string(settings.send_buffer);
    write_file("/proc/sys/net/ipv4/tcp_wmem", "4096 " + most + " " + most, "sysctl");
  }
}

// Waits until the other side writes or ends; false if it ended.
bool wait_for(int pipe) {
  char byte = 0;
  return read(pipe, &byte, 1) == 1;
}

void tell(int pipe) {
  require(write(pipe, "+", 1) == 1, "pipe");
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe");
    out = ends[0];
    in = ends[1];
  }
  int out = -1;
  int in = -1;
};

void start_interface(int number) {
  without_offloads("eth0");
  give_address("eth0", number);
  bring_up("eth0");
}

// The host's own process: it holds the namespaces open, and is all that runs there before the ranks.
[[noreturn]] void hold(const Settings& settings, int number, int ready, int go) {
  prctl(PR_SET_NAME, host_name(number).c_str());
  require(unshare(of_a_host) == 0, "network namespace");
  require(sethostname(host_name(number).c_str(), host_name(number).size()) == 0, "host name");
  mount_memory("/dev/shm");
  // shows the host's own interfaces; where this is not allowed, few programs look there
  static_cast<void>(mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
  without_ipv6();
  set_tcp(settings);
  bring_up("lo");
  tell(ready);
  if (!wait_for(go)) _exit(1);
  start_interface(number);
  tell(ready);
  while (true) pause();
}

template <typename Body>
pid_t forked(Body body) {
  const pid_t pid = fork();
  require(pid >= 0, "process");
  if (pid == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "hockney-ethernet: %s\n", error.what());
    }
    _exit(setup_failed);
  }
  return pid;
}

// All hosts are made at once, since each waits for the kernel.
std::vector<pid_t> make_hosts(const Settings& settings) {
  std::vector<int> ready;
  std::vector<int> go;
  std::vector<pid_t> holders;
  const auto all_ready = [&] {
    for (const int host : ready)
      if (!wait_for(host)) _exit(setup_failed);  // the host has reported why
  };
  for (int number = 1; number <= settings.hosts; ++number) {
    const Pipe from_host;
    const Pipe to_host;
    holders.push_back(forked([&] { hold(settings, number, from_host.in, to_host.out); }));
    close(from_host.in);  // the end of the host is the end of its pipe
    close(to_host.out);
    ready.push_back(from_host.out);
    go.push_back(to_host.in);
  }
  all_ready();
  for (int k = 0; k < settings.hosts; ++k) {
    create_pair(port_name(k + 1), k + 1, settings.mtu, holders[static_cast<std::size_t>(k)]);
    bring_up(port_name(k + 1));
    tell(go[static_cast<std::size_t>(k)]);
  }
  all_ready();
  for (const int pipe : ready) close(pipe);
  for (const int pipe : go) close(pipe);
  return holders;
}

void make_front(const Settings& settings) {
  require(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mount");
  require(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0, "mount of /proc");
  mount_memory("/dev/shm");
  require(sethostname("front", 5) == 0, "host name");
  std::string names = "127.0.0.1 localhost\n10.99.0." + std::to_string(front_number) + " front\n";
  for (int number = 1; number <= settings.hosts; ++number)
    names += "10.99.0." + std::to_string(number) + " " + host_name(number) + "\n";
  write_file("/dev/shm/hosts", names, "mount");
  require(mount("/dev/shm/hosts", "/etc/hosts", nullptr, MS_BIND, nullptr) == 0, "mount of /etc/hosts");
  without_ipv6();
  bring_up("lo");
  create_pair(front_port, front_number, settings.mtu, 0);
  start_interface(front_number);
  bring_up(front_port);
}

// A frame that is forwarded late is late for the ranks: ahead of all others, as far as this is allowed.
void hurry() {
  prctl(PR_SET_TIMERSLACK, 1);
  sched_param first{};
  first.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) setpriority(PRIO_PROCESS, 0, -20);
}

pid_t start_relay(const Settings& settings) {
  std::vector<std::string> ports;
  for (int number = 1; number <= settings.hosts; ++number) ports.push_back(port_name(number));
  const Wire wire{settings.bits_per_second, std::llround(settings.delay_s * 1e9)};
  Relay relay(medium(settings.medium, wire, settings.hosts), ports, front_port);
  return forked([&] {
    prctl(PR_SET_NAME, "wire");
    hurry();
    relay.run();
  });
}

pid_t start_program(const std::vector<std::string>& words, const std::vector<pid_t>& holders) {
  std::string held;
  for (std::size_t k = 0; k < holders.size(); ++k)
    held += (k == 0 ? "" : " ") + host_name(static_cast<int>(k) + 1) + "=" + std::to_string(holders[k]);
  setenv(holders_variable, held.c_str(), 1);
  setenv("TMPDIR", temporary_folder, 1);
  return forked([&] {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  });
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Without the wire or a host, ranks would wait for messages that never arrive. Other processes that end are
// orphans of the program.
void refuse_end_of_part(pid_t ended, int status, pid_t relay, const std::vector<pid_t>& holders) {
  const std::string how = "its process ended with code " + std::to_string(code_of(status));
  if (ended == relay) throw Problem("wire", how);
  for (std::size_t k = 0; k < holders.size(); ++k)
    if (ended == holders[k]) throw Problem("host " + host_name(static_cast<int>(k) + 1), how);
}

// The first process of the process-id namespace: when it ends, the kernel kills all others.
[[noreturn]] void first_process(const Settings& settings, const std::vector<std::string>& words,
                                int lifeline) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd parent{lifeline, POLLIN, 0};
  if (poll(&parent, 1, 0) != 0) _exit(setup_failed);  // it died before the line above
  make_front(settings);
  const std::vector<pid_t> holders = make_hosts(settings);
  const pid_t relay = start_relay(settings);
  const pid_t program = start_program(words, holders);
  while (true) {
    int status = 0;
    const pid_t ended = wait(&status);
    require(ended > 0, "process");
    if (ended == program) _exit(code_of(status));
    refuse_end_of_part(ended, status, relay, holders);
  }
}

}  // namespace

int run_inside(const Settings& settings, const std::vector<std::string>& words) {
  enter_namespaces();
  Pipe lifeline;
  const pid_t first = forked([&] {
    close(lifeline.in);
    first_process(settings, words, lifeline.out);
  });
  int status = 0;
  require(waitpid(first, &status, 0) == first, "process");
  return code_of(status);
}

}  // namespace hockney::emulated
