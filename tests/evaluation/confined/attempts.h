// What a candidate may try, for test_isolation.py: each function is true where it succeeded.
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <string>
#include <thread>

static bool connects_to(int family, const void *address, socklen_t length) {
  const int line = socket(family, SOCK_STREAM, 0);
  if (line < 0) return false;
  const bool done = connect(line, static_cast<const sockaddr *>(address), length) == 0;
  close(line);
  return done;
}

static bool connects(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connects_to(AF_INET, &address, sizeof address);
}

static bool connects_abstract(const char *name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path + 1, name);
  return connects_to(AF_UNIX, &address, offsetof(sockaddr_un, sun_path) + 1 + strlen(name));
}

static bool finds_segment(int key) { return shmget(key, 0, 0) >= 0; }

static bool reads(const std::string &path) {
  char text;
  const int file = open(path.c_str(), O_RDONLY);
  if (file < 0) return false;
  const bool done = read(file, &text, 1) == 1;
  close(file);
  return done;
}

static std::string parents_environment() { return "/proc/" + std::to_string(getppid()) + "/environ"; }

// In place through a mapping: growing is refused by RLIMIT_FSIZE anyway.
static bool overwrites(const char *path) {
  const int file = open(path, O_RDWR);
  if (file < 0) return false;
  void *memory = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return false;
  *static_cast<char *>(memory) = 'S';
  munmap(memory, 1);
  return true;
}

static bool lists_folder_of(std::string path) {
  DIR *folder = opendir(dirname(path.data()));
  if (folder) closedir(folder);
  return folder;
}

static bool executes() { return execl("/bin/sh", "sh", "-c", "exit 7", nullptr) == 0; }

static bool forks() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, nullptr, 0);
  return child > 0;
}

static bool signals_parent() { return kill(getppid(), 0) == 0; }

static bool limits_parent() {
  rlimit limit;
  return prlimit(getppid(), RLIMIT_CORE, nullptr, &limit) == 0;
}

// Sets what is set already.
static bool moves(pid_t process) {
  cpu_set_t set;
  return sched_getaffinity(process, sizeof set, &set) == 0 &&
         sched_setaffinity(process, sizeof set, &set) == 0;
}

static bool sees(const char *path) {
  struct stat found;
  return stat(path, &found) == 0;
}

static bool sets_attribute(const char *path) { return setxattr(path, "user.a", "b", 1, 0) == 0; }

// Mode 0644 by another door: version 2; owner rw, group r, others r.
static bool sets_acl(const char *path) {
  const uint16_t list[] = {2, 0, 1, 6, 0xffff, 0xffff, 4, 4, 0xffff, 0xffff, 32, 4, 0xffff, 0xffff};
  return setxattr(path, "system.posix_acl_access", list, sizeof list, 0) == 0;
}

static bool sets_mode(const char *path) { return chmod(path, 0644) == 0; }

static bool sets_times(const char *path) { return utimensat(AT_FDCWD, path, nullptr, 0) == 0; }

static bool watches(const char *path) {
  const int line = inotify_init1(0);
  return line >= 0 && inotify_add_watch(line, path, IN_ACCESS) >= 0;
}

static bool is_told_of_changes(std::string path) {
  const int folder = open(dirname(path.data()), O_RDONLY);
  return folder >= 0 && fcntl(folder, F_NOTIFY, DN_ACCESS) == 0;
}

static bool makes_memory_file() { return memfd_create("made", 0) >= 0; }

static bool sets_timer() {
  timer_t timer;
  sigevent event = {};
  event.sigev_notify = SIGEV_NONE;
  return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

static bool sets_interval_timer() {
  const itimerval late = {{0, 0}, {3600, 0}};
  return setitimer(ITIMER_REAL, &late, nullptr) == 0;
}

static bool handles_faults() {
  return signal(SIGSEGV, SIG_IGN) != SIG_ERR || signal(SIGBUS, SIG_IGN) != SIG_ERR;
}

static bool sets_timer_file() { return timerfd_create(CLOCK_MONOTONIC, 0) >= 0; }

static bool owns_output() { return fcntl(1, F_SETOWN, getpid()) == 0; }

static bool chooses_signal_of_output() { return fcntl(1, F_SETSIG, SIGCONT) == 0; }

static bool continues_itself() {
  return kill(getpid(), SIGCONT) == 0 || syscall(SYS_tgkill, getpid(), gettid(), SIGCONT) == 0;
}

static bool queues_signal_to_itself() { return sigqueue(getpid(), SIGCONT, {}) == 0; }

static bool handles_parent() { return syscall(SYS_pidfd_open, getppid(), 0) >= 0; }

static bool clocks(pid_t process) {
  timespec used;
  return clock_gettime(~process << 3 | 2, &used) == 0;
}

static int ends(void *) { _exit(0); }

// A thread that holds up its maker, whom no signal stops meanwhile.
static bool vforks_thread() {
  static char stack[65536] __attribute__((aligned(16)));
  return clone(ends, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr) >= 0;
}

static bool team_of_threads() {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members += 1;
  return members == 2;
}

static bool has_random_numbers() { return reads("/dev/urandom"); }

static bool knows_processors() {
  return std::thread::hardware_concurrency() >= 1 && reads("/proc/cpuinfo") &&
         reads("/sys/devices/system/cpu/online");
}
