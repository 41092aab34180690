#include "io/ptx_layout.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "core/parallel.h"
#include "io/decimal.h"
#include "io/header_lines.h"
#include "io/record_value.h"

namespace pc::io {

namespace ptx {

namespace {

constexpr std::uint64_t kMaxSide = 2147483647;  // row_index and column_index have 32 bits

std::size_t chunk_count(const LineSource& source) {
  return static_cast<std::size_t>((source.data_bytes() + kChunkBytes - 1) / kChunkBytes);
}

Span<const char> chunk_lines(const LineSource& source, std::size_t chunk, BulkVector<char>& buffer) {
  const std::uint64_t begin = chunk * kChunkBytes;
  return source.read_lines(begin, std::min(source.data_bytes(), begin + kChunkBytes), buffer);
}

/// The non-blank lines by number, in ascending order.
class LineCursor {
 public:
  LineCursor(const LineSource& source, const FileLayout& layout) : source_(source), layout_(layout) {}

  std::uint64_t count() const { return layout_.before.back(); }
  HeaderLine get(std::uint64_t ordinal) {
    const auto chunk = static_cast<std::size_t>(
        std::upper_bound(layout_.before.begin(), layout_.before.end(), ordinal) - layout_.before.begin() - 1);
    if (chunk != chunk_ || ordinal < ordinal_) {
      text_ = chunk_lines(source_, chunk, buffer_);
      chunk_ = chunk;
      at_ = text_.begin();
      ordinal_ = layout_.before[chunk];
      number_ = layout_.lines_before[chunk];
    }
    while (at_ < text_.end()) {
      const char* const first = at_;
      const char* end =
          static_cast<const char*>(std::memchr(first, '\n', static_cast<std::size_t>(text_.end() - first)));
      at_ = end + 1;
      ++number_;
      if (is_blank_line(first, end) || ordinal_++ != ordinal) continue;
      return {
          std::string(first, std::min<std::size_t>(kMaxHeaderLine, static_cast<std::size_t>(end - first))),
          number_};
    }
    throw Error(ErrorCode::kIo, source_.path() + ": the file changed while it was read");
  }

 private:
  const LineSource& source_;
  const FileLayout& layout_;
  BulkVector<char> buffer_;
  Span<const char> text_;
  const char* at_ = nullptr;
  std::size_t chunk_ = ~std::size_t{0};
  std::uint64_t ordinal_ = 0, number_ = 0;
};

[[noreturn]] void fail_line(const std::string& path, const HeaderLine& line, const std::string& rule) {
  throw Error(ErrorCode::kInvalidFile,
              path + ", line " + std::to_string(line.number) + ": " + quoted(line.text) + " must be " + rule +
                  "; is the number of points before it right, and is this a PTX file?");
}

std::uint64_t parse_side(const std::string& path, const HeaderLine& line, const char* what) {
  const auto words = split_words(line.text);
  std::uint64_t value = 0;
  if (words.size() != 1 ||
      !record_value::parse_integer(words[0].data(), words[0].data() + words[0].size(), value) ||
      value > kMaxSide) {
    fail_line(path, line, std::string("the number of ") + what + " of a PTX scan, a whole number");
  }
  return value;
}

void parse_numbers(const std::string& path, const HeaderLine& line, std::size_t count, double* out,
                   const char* what) {
  const auto words = split_words(line.text);
  bool good = words.size() == count;
  for (std::size_t i = 0; good && i < count; ++i) {
    const auto value = parse_decimal(words[i], '.');
    good = value && std::isfinite(*value);
    if (good) out[i] = *value;
  }
  if (!good)
    fail_line(path, line, std::string(what) + " of a PTX scan, " + std::to_string(count) + " finite numbers");
}

/// Sets `before` and `lines_before`.
void count_lines(const LineSource& source, FileLayout& layout, OpContext& ctx) {
  const std::size_t chunks = chunk_count(source);
  layout.before.assign(chunks + 1, 0);
  layout.lines_before.assign(chunks + 1, 0);
  std::vector<BulkVector<char>> buffers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Counting points", chunks);
  parallel_for_worker(ctx, chunks, 1, [&](std::size_t chunk, std::size_t, int worker) {
    const Span<const char> text = chunk_lines(source, chunk, buffers[static_cast<std::size_t>(worker)]);
    std::uint64_t filled = 0, lines = 0;
    for_each_line(text, 0, [&](const char* p, const char* end, std::uint64_t) {
      filled += is_blank_line(p, end) ? 0 : 1;
      ++lines;
    });
    layout.before[chunk + 1] = filled;
    layout.lines_before[chunk + 1] = lines;
  });
  for (std::size_t i = 0; i < chunks; ++i) {
    layout.before[i + 1] += layout.before[i];
    layout.lines_before[i + 1] += layout.lines_before[i];
  }
}

}  // namespace

PtxScan parse_header(const std::string& path, const std::function<HeaderLine(std::uint64_t)>& next) {
  PtxScan scan;
  HeaderLine line = next(0);
  scan.first_line = line.number;
  scan.columns = parse_side(path, line, "columns");
  scan.rows = parse_side(path, next(1), "rows");
  double v[4];
  parse_numbers(path, next(2), 3, v, "the scanner position");
  scan.registered_position = {v[0], v[1], v[2]};
  for (std::size_t k = 0; k < 3; ++k) {
    parse_numbers(path, next(3 + k), 3, v, "a scanner axis");
    scan.registered_axes[k] = {v[0], v[1], v[2]};
  }
  for (std::size_t k = 0; k < 4; ++k) {
    line = next(6 + k);
    parse_numbers(path, line, 4, v, "a row of the matrix");
    if (std::abs(v[3] - (k == 3 ? 1 : 0)) > 1e-9) {
      fail_line(path, line,
                k == 3 ? "the matrix's last row, ending in 1" : "a row of the matrix, ending in 0");
    }
    v[3] = k == 3 ? 1 : 0;
    for (std::size_t i = 0; i < 4; ++i) scan.T_file_scanner[4 * i + k] = v[i];
  }
  return scan;
}

TextStart find_start(const platform::File& file) {
  HeaderLines lines(file, "PTX header");
  lines.next();
  char mark[3];
  const bool marked = file.read_at(0, mark, 3) == 3 && std::memcmp(mark, "\xef\xbb\xbf", 3) == 0;
  return {marked ? std::uint64_t{3} : 0, lines.line_end() == '\r'};
}

FileLayout read_layout(const platform::File& file, const LineSource& source, OpContext& ctx) {
  FileLayout layout;
  count_lines(source, layout, ctx);
  char last = 0;
  const bool closed =
      file.size() != 0 && file.read_at(file.size() - 1, &last, 1) == 1 && (last == '\n' || last == '\r');
  const std::string& path = source.path();
  LineCursor cursor(source, layout);
  for (std::uint64_t at = 0; at < cursor.count();) {
    ctx.checkpoint();
    if (layout.scans.size() == kMaxScans) {
      throw Error(ErrorCode::kInvalidFile, path + ": the file has more than 65535 scans; split it");
    }
    ScanLines scan;
    scan.header = parse_header(path, [&](std::uint64_t k) {
      if (at + k < cursor.count()) return cursor.get(at + k);
      throw Error(ErrorCode::kInvalidFile, path + ": the file ends inside the header of scan " +
                                               std::to_string(layout.scans.size()) +
                                               " (10 lines); it is cut off");
    });
    scan.first_cell = at + kHeaderLines;
    const std::uint64_t declared = scan.header.columns * scan.header.rows;  // below 2^62
    const std::uint64_t left = cursor.count() - scan.first_cell;
    scan.cells = std::min(declared, left);
    if (declared > left) {
      if (scan.cells != 0 && !closed) --scan.cells;  // its last number may be cut off
      layout.warnings.push_back("scan " + std::to_string(layout.scans.size()) + " declares " +
                                std::to_string(declared) + " points, the file holds " +
                                std::to_string(scan.cells) + " complete ones: the rest is missing");
    }
    layout.scans.push_back(scan);
    at = scan.first_cell + std::min(declared, left);
  }
  if (layout.scans.empty())
    throw Error(ErrorCode::kInvalidFile, path + ": the file holds no PTX scan, only blank lines");
  return layout;
}

}  // namespace ptx

}  // namespace pc::io
