#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench.h"
#include "core/error.h"
#include "core/memory.h"

extern char** environ;

namespace pc::bench {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// ru_maxrss is KiB on Linux, bytes on macOS.
double mebibytes_of(long max_rss) {
#if defined(__APPLE__)
  return static_cast<double>(max_rss) / (1 << 20);
#else
  return static_cast<double>(max_rss) / 1024.0;
#endif
}

}  // namespace

int touch_memory(const Arguments& arguments) {
  const std::size_t mebibytes = point_count(arguments[0]);
  std::vector<BulkVector<std::byte>> held;
  const Stopwatch watch;
  for (std::size_t done = 0; done < mebibytes; done += 256) {
    BulkVector<std::byte>& block = held.emplace_back();
    block.resize((std::min<std::size_t>(256, mebibytes - done)) << 20);
    std::memset(block.data(), 1, block.size());
  }
  std::printf("{\"count\":%zu,\"op_s\":%.3f}\n", mebibytes, watch.seconds());
  return 0;
}

int measure_program(const Arguments& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const Stopwatch watch;
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ);
  if (failed != 0) throw Error(ErrorCode::kIo, arguments[0] + " does not start: " + std::strerror(failed));
  int status = 0;
  rusage use{};  // of the child and every process it waited for
  while (wait4(child, &status, 0, &use) < 0) {
    if (errno != EINTR) throw Error(ErrorCode::kIo, std::string("wait4: ") + std::strerror(errno));
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::printf("{\"wall_s\":%.4f,\"cpu_s\":%.4f,\"peak_rss_mib\":%.2f,\"exit\":%d}\n", watch.seconds(),
              seconds_of(use.ru_utime) + seconds_of(use.ru_stime), mebibytes_of(use.ru_maxrss), code);
  return 0;
}

}  // namespace pc::bench
