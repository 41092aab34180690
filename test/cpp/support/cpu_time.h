#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace pc::test {

/// CPU seconds of this process, the least of several runs. Page faults, a core shared with other processes and the
/// quarantine of the address sanitizer add to one run or another, and nothing takes time away.
template <typename Body>
double least_cpu_seconds(int runs, Body&& body) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const std::clock_t start = std::clock();
    body();
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace pc::test
