#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "io/decimal.h"
#include "io/header_lines.h"
#include "io/ptx_layout.h"

namespace pc::io {

namespace ptx {

namespace {

/// True for a cell line that starts with three zeros, in any notation.
bool is_empty_cell(const char* p, const char* end) {
  for (int axis = 0; axis < 3; ++axis) {
    p = record_value::skip_blanks(p, end);
    const char* const stop = record_value::token_end(p, end);
    if (p == stop) return false;
    for (; p != stop; ++p) {
      if (*p != '0' && *p != '.' && *p != '-' && *p != '+') return false;
    }
  }
  return true;
}

/// Walks the lines of a file, header by header.
class HeadWalk {
 public:
  HeadWalk(const std::string& path, std::size_t max_rows) : path_(path), max_rows_(max_rows) {}

  PtxHead head;

  /// Takes one non-blank line; false if the rest of the file cannot be interpreted.
  bool line(const char* first, const char* end, std::uint64_t number) {
    if (cells_left_ != 0) {
      --cells_left_;
      cell(first, end);
      return true;
    }
    lines_.push_back(
        {std::string(first, std::min<std::size_t>(kMaxHeaderLine, static_cast<std::size_t>(end - first))),
         number});
    return lines_.size() < kHeaderLines || scan();
  }

  /// Ends the walk at the end of the file.
  void finish() {
    const std::string next = std::to_string(head.scans.size());
    if (!lines_.empty())
      fail("the file ends inside the header of scan " + next + " (10 lines); it is cut off");
    if (head.scans.empty())
      throw Error(ErrorCode::kInvalidFile, path_ + ": the file holds no PTX scan, only blank lines");
    if (cells_left_ == 0) return;
    const PtxScan& last = head.scans.back().header;
    const std::uint64_t declared = last.columns * last.rows;
    head.warnings.push_back("scan " + std::to_string(head.scans.size() - 1) + " declares " +
                            std::to_string(declared) + " points, the file holds " +
                            std::to_string(declared - cells_left_) + ": the rest is missing");
  }

 private:
  /// Throws for the first scan; for a later one the list ends with a warning.
  bool fail(const std::string& problem) {
    if (head.scans.empty()) throw Error(ErrorCode::kInvalidFile, path_ + ": " + problem);
    head.warnings.push_back(problem + "; what follows is not listed");
    head.complete = false;
    return false;
  }

  bool scan() {
    if (head.scans.size() == kMaxScans) return fail("the file has more than 65535 scans; split it");
    try {
      head.scans.push_back({parse_header(path_, [&](std::uint64_t k) { return lines_[k]; }), false});
    } catch (const Error& error) {
      if (head.scans.empty()) throw;
      head.warnings.push_back(std::string(error.what()) + "; what follows is not listed");
      head.complete = false;
      return false;
    }
    lines_.clear();
    const PtxScan& header = head.scans.back().header;
    cells_left_ = header.columns * header.rows;
    return true;
  }

  void cell(const char* first, const char* end) {
    PtxListedScan& scan = head.scans.back();
    if (!scan.has_empty_cells) scan.has_empty_cells = is_empty_cell(first, end);
    if (head.scans.size() == 1 && head.sample.size() < max_rows_) {
      const auto bytes = std::min<std::size_t>(kMaxHeaderLine, static_cast<std::size_t>(end - first));
      head.sample.push_back(sample_row(scan.header, std::string(first, bytes)));
    }
  }

  static PtxSampleRow sample_row(const PtxScan& scan, const std::string& text) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    PtxSampleRow row{{kNan, kNan, kNan}, split_words(text)};
    double p[3] = {0, 0, 0};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto value = axis < row.words.size() ? parse_decimal(row.words[axis], '.') : std::nullopt;
      if (!value) return row;
      p[axis] = *value;
    }
    if (p[0] == 0 && p[1] == 0 && p[2] == 0) return row;
    row.position = file_position(scan, {p[0], p[1], p[2]});
    return row;
  }

  const std::string& path_;
  std::size_t max_rows_;
  std::vector<HeaderLine> lines_;  // of the header that is being read
  std::uint64_t cells_left_ = 0;
};

}  // namespace

}  // namespace ptx

Vec3d file_position(const PtxScan& scan, const Vec3d& p) {
  const auto& m = scan.T_file_scanner;
  return {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
          m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
}

PtxHead read_ptx_head(const std::string& path, std::size_t max_rows, std::uint64_t max_bytes,
                      OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  const ptx::TextStart start = ptx::find_start(file);
  const LineSource source(file, start.data_start, start.cr_lines);
  ptx::HeadWalk walk(path, max_rows);
  BulkVector<char> buffer;
  std::uint64_t number = 1, at = 0;
  bool going = true;
  for (; going && at < source.data_bytes() && (at < max_bytes || walk.head.scans.empty());
       at += ptx::kChunkBytes) {
    ctx.checkpoint();
    const std::uint64_t end = std::min(source.data_bytes(), at + ptx::kChunkBytes);
    const Span<const char> text = source.read_lines(at, end, buffer);
    ptx::for_each_line(text, number, [&](const char* first, const char* stop, std::uint64_t line) {
      number = line + 1;
      if (going && !ptx::is_blank_line(first, stop)) going = walk.line(first, stop, line);
    });
  }
  if (!going) return std::move(walk.head);
  walk.head.complete = at >= source.data_bytes();
  if (walk.head.complete) walk.finish();
  return std::move(walk.head);
}

}  // namespace pc::io
