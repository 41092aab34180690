#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/ascii_table.h"

namespace pc::bench {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20, kLineBytes = 4096;

/// Parses the numbers of the lines that start in [begin, end) and returns how many lines there were.
std::size_t loop_over_lines(const char* p, const char* begin, const char* end, const char* last,
                            double* values) {
  if (p != begin) p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(last - p))) + 1;
  std::size_t rows = 0;
  for (; p < end; ++p, ++rows) {
    for (double* value = values; *p != '\n';) {
      const auto number = std::from_chars(p, last, *value);
      if (number.ec != std::errc()) return 0;  // the plot has numbers only
      value = value == values + 15 ? values : value + 1;
      p = number.ptr;
      while (*p == ' ') ++p;
    }
  }
  return rows;
}

}  // namespace

int loop_over_text_file(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const Stopwatch watch;
  const auto file = platform::File::open_read(arguments[0]);
  const auto size = static_cast<std::size_t>(file.size());
  const std::size_t pieces = (size + kPieceBytes - 1) / kPieceBytes;
  std::vector<std::size_t> rows(pieces);
  std::vector<std::vector<char>> buffers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Reading text", pieces);
  parallel_for_worker(ctx, pieces, 1, [&](std::size_t first, std::size_t last_piece, int worker) {
    std::vector<char>& buffer = buffers[static_cast<std::size_t>(worker)];
    buffer.resize(kPieceBytes + kLineBytes + 1);
    double values[16];
    for (std::size_t i = first; i < last_piece; ++i) {
      // One byte before the piece tells whether a line starts with it.
      const std::size_t from = i * kPieceBytes, before = i == 0 ? 0 : 1;
      const std::size_t got = file.read_at(from - before, buffer.data(), kPieceBytes + kLineBytes);
      const char* const begin = buffer.data() + before;
      const char* const last = buffer.data() + got;
      rows[i] = loop_over_lines(buffer.data(), begin, std::min(begin + kPieceBytes, last), last, values);
    }
  });
  const double seconds = watch.seconds();
  std::size_t count = 0;
  for (const std::size_t n : rows) count += n;
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"column_mib\":0,\"threads\":%d}\n", count, seconds,
              ctx.threads());
  return 0;
}

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
