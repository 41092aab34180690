#include <cstdio>

#include "bench.h"
#include "io/las.h"

namespace pc::bench {

int read_las_file(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  io::LasReadParams params;
  if (arguments.size() > 2 && arguments[2] == "xyz")
    params.wanted = [](const io::LasDimension&) { return false; };
  const Stopwatch watch;
  const io::LasCloud cloud = io::read_las(arguments[0], params, ctx);
  const double seconds = watch.seconds();
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"columns\":%zu,\"column_mib\":%.1f,\"threads\":%d}\n",
              cloud.table.positions.size(), seconds, cloud.table.columns.size() + 1, column_mib(cloud.table),
              ctx.threads());
  return 0;
}

}  // namespace pc::bench
