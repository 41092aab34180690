#include "io/ascii_table.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>

#include "core/parallel.h"
#include "core/platform.h"
#include "io/ascii_head.h"
#include "io/ascii_lines.h"
#include "io/ascii_messages.h"
#include "io/ascii_positions.h"
#include "io/ascii_rows.h"

namespace pc::io {

namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

std::vector<std::size_t> check_params(const TextReadParams& p, std::size_t chunk_bytes) {
  require(chunk_bytes >= 1, "chunk_bytes must be at least 1");
  require(!(p.decimal_comma && p.delimiter == TextDelimiter::kComma),
          "a comma cannot separate columns and decimals at once; choose another delimiter");
  require(p.x_index != p.y_index && p.y_index != p.z_index && p.x_index != p.z_index,
          "x, y and z must be three different columns");
  require(std::max({p.x_index, p.y_index, p.z_index}) < p.expected_columns,
          "x, y and z must be among the expected columns");
  require(p.expected_columns <= kMaxTextLineBytes, "expected_columns is more than a line can hold");
  std::vector<std::size_t> order(p.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return p.columns[a].index < p.columns[b].index; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t index = p.columns[order[i]].index;
    require(index < p.expected_columns, "every requested column must be among the expected columns");
    require(index != p.x_index && index != p.y_index && index != p.z_index,
            "x, y and z cannot be read as another column too");
    require(i == 0 || p.columns[order[i - 1]].index != index, "a column is requested twice");
  }
  return order;
}

/// First byte of data, after `skip_lines` physical lines.
std::uint64_t find_data_start(const platform::File& file, const TextHead& head, std::uint64_t skip_lines,
                              OpContext& ctx) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::uint64_t offset = head.start;
  BulkVector<char> block;
  for (std::uint64_t left = skip_lines; left != 0;) {
    ctx.checkpoint();
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, file.size() - offset)));
    block.resize(file.read_at(offset, block.data(), block.size()));
    if (block.empty()) return file.size();
    if (head.cr_lines) std::replace(block.begin(), block.end(), '\r', '\n');
    const char* p = block.begin();
    for (; left != 0 && p != block.end(); --left) {
      const auto* stop =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(block.end() - p)));
      if (stop == nullptr) {
        p = block.end();
        break;
      }
      p = stop + 1;
    }
    offset += static_cast<std::uint64_t>(p - block.begin());
  }
  return offset;
}

/// Rows to reserve space for, by the line ends in some places of the data and a little more.
std::size_t expected_rows(const LineSource& source, const TextReadParams& params) {
  constexpr std::uint64_t kPlaces = 16, kPlaceBytes = 16 << 10, kLeastRowBytes = 6;  // "0 0 0\n"
  const std::uint64_t bytes = source.data_bytes();
  std::uint64_t seen = 0, ends = 0;
  BulkVector<char> text;
  for (std::uint64_t i = 0; i < kPlaces && i * kPlaceBytes < bytes; ++i) {
    const std::uint64_t at = std::max(bytes / kPlaces * i, i * kPlaceBytes);
    source.load(at, kPlaceBytes, 0, text);
    seen += text.size();
    ends += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  }
  if (seen == 0) return 0;
  const double rows = static_cast<double>(ends + 1) / static_cast<double>(seen) * static_cast<double>(bytes);
  const std::uint64_t most = std::min(bytes / kLeastRowBytes + 1, params.max_rows - 1);  // 0 = no limit
  return static_cast<std::size_t>(std::min(rows * 1.03 + 64, static_cast<double>(most) + 1));
}

/// Reads the chunks: in parallel, or with a row limit one after the other.
class TableReader {
 public:
  TableReader(const LineSource& source, const TextReadParams& params, const std::vector<std::size_t>& order,
              std::uint64_t byte_limit, std::size_t chunk_bytes, std::size_t expected_rows)
      : source_(source),
        params_(params),
        order_(order),
        chunk_bytes_(chunk_bytes),
        budget_{byte_limit, source.path()},
        chunks_(static_cast<std::size_t>((source.data_bytes() + chunk_bytes - 1) / chunk_bytes)),
        positions_(chunks_.size(), expected_rows) {}

  void read(OpContext& ctx) {
    budget_.take(positions_.reserved_bytes());
    workers_.resize(static_cast<std::size_t>(ctx.threads()));
    ctx.begin_phase("Reading text", source_.data_bytes());
    if (params_.max_rows != 0 &&
        params_.max_rows < source_.data_bytes() / 2) {  // a row takes at least two bytes
      std::uint64_t rows = 0;
      for (std::size_t i = 0; i < chunks_.size() && rows < params_.max_rows; ++i) {
        read_chunk(i, 0, params_.max_rows - rows, ctx);
        rows += chunks_[i].rows;
        ctx.advance(chunk_bytes_);
      }
      return;
    }
    parallel_for_worker(ctx, static_cast<std::size_t>(source_.data_bytes()), chunk_bytes_,
                        [&](std::size_t begin, std::size_t, int worker) {
                          read_chunk(begin / chunk_bytes_, static_cast<std::size_t>(worker), kNoLimit, ctx);
                        });
  }

  std::vector<ChunkRows>& chunks() { return chunks_; }
  PositionJoin& positions() { return positions_; }
  std::uint64_t bytes_left() const { return budget_.bytes_left.load(); }

  RowSummary summary() const {
    RowSummary total;
    total.columns.resize(order_.size());
    total.rows_by_reach.resize(order_.size() + 1);
    for (const auto& worker : workers_) {
      if (worker) total.merge(worker->parser.summary());
    }
    return total;
  }

 private:
  struct Worker {
    RowParser parser;
    BulkVector<char> text;
  };

  void read_chunk(std::size_t index, std::size_t worker_index, std::uint64_t row_limit, OpContext& ctx) {
    auto& worker = workers_[worker_index];
    if (!worker) worker = std::make_unique<Worker>(Worker{RowParser(params_, order_, budget_), {}});
    const std::uint64_t begin = static_cast<std::uint64_t>(index) * chunk_bytes_;
    const std::uint64_t end = std::min<std::uint64_t>(begin + chunk_bytes_, source_.data_bytes());
    const Span<const char> lines = source_.read_lines(begin, end, worker->text);
    ChunkRows& chunk = chunks_[index];
    if (!lines.empty()) chunk = worker->parser.parse(lines, index, row_limit, positions_.buffer(), ctx);
    positions_.finish(index, static_cast<std::size_t>(chunk.rows), std::move(chunk.positions));
  }

  const LineSource& source_;
  const TextReadParams& params_;
  const std::vector<std::size_t>& order_;
  std::size_t chunk_bytes_;
  StoreBudget budget_;
  std::vector<ChunkRows> chunks_;
  PositionJoin positions_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// Joins the positions, unpacks the chunks to their final columns, at most `bytes_left`, and frees the memory of each
/// chunk.
CloudTable join_chunks(TableReader& reader, const TextReport& report, OpContext& ctx) {
  std::vector<ChunkRows>& chunks = reader.chunks();
  const TextReadParams& params = report.params;
  const auto rows = static_cast<std::size_t>(report.rows);
  std::vector<DType> types(report.order.size(), DType::kU8);
  std::vector<bool> kept(report.order.size());
  std::uint64_t row_bytes = 0;  // without the positions, which have their space
  for (std::size_t c = 0; c < types.size(); ++c) {
    types[c] = column_type(report.summary.columns[c], params.columns[report.order[c]].type);
    kept[c] = !has_no_numbers(report, c);
    if (kept[c]) row_bytes += dtype_size(types[c]);
  }
  if (row_bytes != 0 && rows > reader.bytes_left() / row_bytes) throw too_sparse(report.path);
  CloudTable table;
  table.positions = reader.positions().take(rows, ctx);
  std::vector<AnyColumn> columns(types.size());
  for (std::size_t c = 0; c < types.size(); ++c) {
    if (kept[c]) columns[c] = AnyColumn(types[c], rows);
  }
  std::vector<std::size_t> first_rows(chunks.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    first_rows[i] = next;
    next += static_cast<std::size_t>(chunks[i].rows);
  }
  ctx.begin_phase("Joining columns", chunks.size());
  parallel_for(ctx, chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      unpack_rows(chunks[i].packed, first_rows[i], columns);
      chunks[i].packed = PackedRows();
    }
  });
  std::vector<std::size_t> place(types.size());
  for (std::size_t c = 0; c < types.size(); ++c) place[report.order[c]] = c;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (kept[place[i]])
      table.columns.push_back({params.columns[i].name, "", true, std::move(columns[place[i]])});
  }
  return table;
}

}  // namespace

CloudTable read_text(const std::string& path, const TextReadParams& params, std::size_t chunk_bytes,
                     OpContext& ctx) {
  const std::vector<std::size_t> order = check_params(params, chunk_bytes);
  const auto file = platform::File::open_read(path);
  std::uint64_t data_start = 0;
  bool cr_lines = false;
  {
    const TextHead head = read_text_head(file, ctx);
    data_start = find_data_start(file, head, params.skip_lines, ctx);
    cr_lines = head.cr_lines;
  }
  const LineSource source(file, data_start, cr_lines);
  const std::uint64_t byte_limit = (std::uint64_t{64} << 20) + 20 * file.size();
  TableReader reader(source, params, order, byte_limit, chunk_bytes, expected_rows(source, params));
  reader.read(ctx);

  std::vector<std::uint64_t> lines_before;
  std::uint64_t lines = params.skip_lines, rows = 0;
  for (const ChunkRows& chunk : reader.chunks()) {
    lines_before.push_back(lines);
    lines += chunk.lines;
    rows += chunk.rows;
  }
  const RowSummary summary = reader.summary();
  const TextReport report{path, params, order, summary, rows, lines_before};
  require_rows(report);
  CloudTable table = join_chunks(reader, report, ctx);
  table.malformed_dropped = summary.malformed.count;
  table.nonfinite_dropped = summary.nonfinite.count;
  table.warnings = text_warnings(report);
  return table;
}

CloudTable read_text(const std::string& path, const TextReadParams& params, OpContext& ctx) {
  return read_text(path, params, kTextChunkBytes, ctx);
}

}  // namespace pc::io
