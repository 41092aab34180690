#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>

#include "bench.h"
#include "cost_case.h"

namespace pc::bench {

namespace {

/// CPU time below which a figure is that of the clock: shorter work is repeated until it takes this long.
constexpr double kCounts_s = 0.05;
constexpr int kFigures = 3;
/// CPU time after which no further figure is taken.
constexpr double kEnough_s = 1;
/// Above it (less what is stated) a case is measured with four times the points as well.
constexpr double kSteep = 1.3;

double cpu_since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

/// Least CPU seconds of one call on one thread.
double cpu_seconds(const CostWork& work) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const std::clock_t begin = std::clock();
  work(ctx);  // touches what is mapped but not in memory
  double least = HUGE_VAL;
  for (int figure = 0; figure < kFigures && (figure == 0 || cpu_since(begin) < kEnough_s); ++figure) {
    int calls = 0;
    const std::clock_t start = std::clock();
    do {
      work(ctx);
      ++calls;
    } while (cpu_since(start) < kCounts_s);
    least = std::min(least, cpu_since(start) / calls);
  }
  return least;
}

/// From n to 4 n. Where the data outgrow a cache or a small allocation the time makes one step, which looks like a power
/// above 1 between two sizes; an op that grows faster than it states does so between all. Infinite if 4 n are refused.
double further_exponent(const CostCase& each, std::size_t n, double seconds) {
  try {
    return std::log(cpu_seconds(each.prepare(4 * n)) / seconds) / std::log(4);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    return HUGE_VAL;
  }
}

CostCases all_costs() {
  CostCases cases;
  add_value_costs(cases);
  add_mask_costs(cases);
  add_point_costs(cases);
  add_spatial_costs(cases);
  add_raster_costs(cases);
  add_table_costs(cases);
  add_parser_costs(cases);
  return cases;
}

}  // namespace

int time_costs(const Arguments& arguments) {
  const std::string only = arguments.empty() ? "" : arguments[0];
  const std::size_t times = arguments.size() < 2 ? 1 : point_count(arguments[1]);
  double worst_exponent = -HUGE_VAL, worst_factor = 0;
  std::size_t looked = 0;
  std::map<std::string, double> plain;  // of the first input of each op
  std::printf("%-28s %-18s %9s %11s %11s %8s %6s %7s\n", "op", "input", "n", "CPU ms", "of 4 n", "exponent",
              "stated", "factor");
  for (const CostCase& each : all_costs()) {
    if ((each.op + " " + each.input).find(only) == std::string::npos) continue;
    const std::size_t n = times * each.n;
    const double once = cpu_seconds(each.prepare(n)), more = cpu_seconds(each.prepare(4 * n));
    const double first = plain.try_emplace(each.op, more).first->second;
    double exponent = std::log(more / once) / std::log(4);
    const double factor = more / first;
    if (exponent - each.growth + 1 > kSteep)
      exponent = std::min(exponent, further_exponent(each, 4 * n, more));
    std::printf("%-28s %-18s %9zu %11.4f %11.4f %8.2f %6.0f %7.2f\n", each.op.c_str(), each.input.c_str(), n,
                1e3 * once, 1e3 * more, exponent, each.growth, factor);
    std::fflush(stdout);
    worst_exponent = std::max(worst_exponent, exponent - each.growth + 1);
    worst_factor = std::max(worst_factor, factor / each.slower);
    ++looked;
  }
  if (looked == 0) throw Error(ErrorCode::kInvalidArgument, "no op is named \"" + only + "\"");
  std::printf("{\"cases\":%zu,\"worst_exponent\":%.3f,\"worst_factor\":%.3f}\n", looked, worst_exponent,
              worst_factor);
  return 0;
}

}  // namespace pc::bench
