#include <cstdio>

#include "bench.h"
#include "core/memory.h"
#include "io/ascii_table.h"

namespace pc::bench {

int read_text_file(const Arguments& arguments) {
  io::TextReadParams params{};
  params.delimiter = io::TextDelimiter::kWhitespace;
  params.expected_columns = 7;
  params.x_index = 0;
  params.y_index = 1;
  params.z_index = 2;
  const char* const names[] = {"intensity", "r", "g", "b"};
  for (std::uint32_t i = 0; i < 4; ++i) {
    params.columns.push_back({i + 3, names[i], io::TextColumnType::kAuto});
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const Stopwatch watch;
  const io::CloudTable table = io::read_text(arguments[0], params, ctx);
  const double seconds = watch.seconds();
  std::printf(
      "{\"count\":%zu,\"op_s\":%.4f,\"columns\":%zu,\"column_mib\":%.1f,\"threads\":%d,\"mapped_peak_mib\":%."
      "1f}\n",
      table.positions.size(), seconds, table.columns.size() + 1, column_mib(table), ctx.threads(),
      static_cast<double>(bulk_bytes_peak()) / (1 << 20));
  return 0;
}

}  // namespace pc::bench
