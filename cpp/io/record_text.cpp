#include "io/record_text.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "core/parallel.h"
#include "io/record_lines.h"
#include "io/record_row.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

using record_value::skip_blanks;

constexpr std::size_t kFlushBytes = std::size_t{1} << 19;

/// Counts of the rows in the file.
struct Census {
  std::uint64_t present_rows = 0;           ///< complete rows among the declared ones
  std::uint64_t surplus_rows = 0;           ///< lines beyond everything the header declares
  std::vector<std::uint64_t> rows_before;   ///< per chunk, number of non-blank lines before it
  std::vector<std::uint64_t> lines_before;  ///< per chunk, number of lines before it
};

/// Problems found; shared by the workers of one parse.
struct Trouble {
  std::atomic<std::uint64_t> malformed{0}, extra_values{0}, missing_lists{0};
  std::atomic<std::uint64_t> first_line{~std::uint64_t{0}};
  std::mutex mutex;
  std::string first_problem;  ///< of the first malformed row in the file
};

struct Worker {
  RecordLines lines;
  BulkVector<std::byte> records;
};

/// Calls line(first, last) for every line of [p, end), without its line end.
template <class Line>
void for_each_line(const char* p, const char* end, char line_end, Line&& line) {
  while (p != end) {
    const auto* mark = static_cast<const char*>(std::memchr(p, line_end, static_cast<std::size_t>(end - p)));
    line(p, mark == nullptr ? end : mark);
    p = mark == nullptr ? end : mark + 1;
  }
}

void add_capped(std::uint64_t& sum, std::uint64_t term) {
  sum = term > ~std::uint64_t{0} - sum ? ~std::uint64_t{0} : sum + term;
}

/// Computes the census of the body from the counts per chunk.
void settle(Census& census, const TextBody& body, bool terminated) {
  for (std::size_t i = 0; i + 1 < census.rows_before.size(); ++i) {
    census.rows_before[i + 1] += census.rows_before[i];
    census.lines_before[i + 1] += census.lines_before[i];
  }
  std::uint64_t promised = body.skip_rows;
  add_capped(promised, body.declared_rows);
  const std::uint64_t total = census.rows_before.back();
  const bool cut_last = total < promised && total > body.skip_rows && !terminated;
  const std::uint64_t complete = cut_last ? total - 1 : total;
  census.present_rows =
      complete <= body.skip_rows ? 0 : std::min(complete - body.skip_rows, body.declared_rows);
  add_capped(promised, body.following_rows);
  census.surplus_rows = total > promised ? total - promised : 0;
}

Census take_census(const platform::File& file, const TextBody& body, OpContext& ctx) {
  const std::size_t chunks = RecordLines::count(file, body.offset);
  Census census;
  census.rows_before.assign(chunks + 1, 0);
  census.lines_before.assign(chunks + 1, 0);
  std::vector<RecordLines> scratch(static_cast<std::size_t>(ctx.threads()));
  std::atomic<bool> terminated{true};
  ctx.begin_phase("Counting rows", chunks);
  parallel_for_worker(ctx, chunks, 1, [&](std::size_t index, std::size_t, int worker) {
    RecordLines& chunk = scratch[static_cast<std::size_t>(worker)];
    chunk.load(file, body.offset, body.line_end, index);
    std::uint64_t rows = 0, lines = 0;
    bool last_blank = true;
    for_each_line(chunk.begin(), chunk.end(), body.line_end, [&](const char* p, const char* end) {
      last_blank = skip_blanks(p, end) == end;
      rows += last_blank ? 0 : 1;
      ++lines;
    });
    census.rows_before[index + 1] = rows;
    census.lines_before[index + 1] = lines;
    if (lines != 0 && !last_blank && chunk.end()[-1] != body.line_end) terminated = false;
  });
  settle(census, body, terminated);
  return census;
}

/// Parses rows [first, first + rows) of the body, chunk by chunk, to rows [0, rows) of the builder.
class ChunkParser {
 public:
  ChunkParser(const platform::File& file, const TextBody& body, const Census& census,
              const RecordRowParser& parser, TableBuilder& builder, std::uint64_t first)
      : file_(file),
        body_(body),
        census_(census),
        parser_(parser),
        builder_(builder),
        first_(first),
        end_(first + builder.rows()) {}

  Trouble& trouble() { return trouble_; }

  void parse(std::size_t index, Worker& worker) {
    const std::uint64_t before = census_.rows_before[index], after = census_.rows_before[index + 1];
    if (after <= first_ || before >= end_) return;
    worker.lines.load(file_, body_.offset, body_.line_end, index);
    const std::size_t capacity = std::max<std::size_t>(16, kFlushBytes / parser_.record_bytes());
    worker.records.resize(capacity * parser_.record_bytes());
    std::uint64_t row = before, line = body_.first_line + census_.lines_before[index];
    std::uint64_t stored = std::max(first_, before) - first_;
    std::size_t held = 0;
    const auto flush = [&] {
      for (std::size_t f = 0; f < builder_.fields().size(); ++f) {
        builder_.put(f, worker.records.data() + parser_.offsets()[f], parser_.record_bytes(),
                     static_cast<std::size_t>(stored), held);
      }
      stored += std::exchange(held, 0);
    };
    for_each_line(worker.lines.begin(), worker.lines.end(), body_.line_end,
                  [&](const char* p, const char* end) {
                    const std::uint64_t this_line = line++;
                    if (skip_blanks(p, end) == end) return;
                    const std::uint64_t this_row = row++;
                    if (this_row < first_ || this_row >= end_) return;
                    parse_row(p, end, this_line, worker.records.data() + held * parser_.record_bytes());
                    if (++held == capacity) flush();
                  });
    flush();
  }

 private:
  void parse_row(const char* p, const char* end, std::uint64_t line, std::byte* record) {
    const RowOutcome outcome = parser_.parse(p, end, record);
    if (outcome.surplus) ++trouble_.extra_values;
    if (outcome.missing_list) ++trouble_.missing_lists;
    if (outcome.fault == RowFault::kNone) return;
    ++trouble_.malformed;
    parser_.blank_out(record);
    if (line >= trouble_.first_line.load()) return;
    const std::lock_guard<std::mutex> lock(trouble_.mutex);
    if (line >= trouble_.first_line.load()) return;
    trouble_.first_line = line;
    trouble_.first_problem = parser_.describe(outcome, line);
  }

  const platform::File& file_;
  const TextBody& body_;
  const Census& census_;
  const RecordRowParser& parser_;
  TableBuilder& builder_;
  std::uint64_t first_, end_;
  Trouble trouble_;
};

/// Adds warnings about the rows.
void warn(const TextBody& body, const Census& census, const Trouble& trouble, const char* noun,
          std::vector<std::string>& warnings) {
  const auto say = [&](std::uint64_t count, const std::string& text) {
    if (count != 0) warnings.push_back(std::to_string(count) + text);
  };
  if (census.present_rows < body.declared_rows) {
    warnings.push_back("the header declares " + std::to_string(body.declared_rows) + " " + noun +
                       ", the file holds " + std::to_string(census.present_rows) +
                       " complete ones: the rest is missing");
  }
  say(trouble.malformed, " row(s) could not be read and are left out; the first is " + trouble.first_problem);
  say(trouble.extra_values, " row(s) hold more values than the header declares; the surplus is ignored");
  say(trouble.missing_lists, " row(s) end before the list that the header declares last");
  say(census.surplus_rows, " line(s) follow the rows that the header declares and are ignored");
}

}  // namespace

CloudTable read_record_text(const platform::File& file, const TextBody& body, TextLayout layout,
                            const PositionFrame& frame, OpContext& ctx) {
  const Census census = take_census(file, body, ctx);
  if (body.declared_rows != 0 && census.present_rows == 0) {
    throw Error(ErrorCode::kInvalidFile, file.path() + ": the header declares " +
                                             std::to_string(body.declared_rows) + " " + layout.row_noun +
                                             ", the file holds no complete one");
  }
  const std::uint64_t first = std::min(body.first_row, census.present_rows);
  const std::uint64_t rows = std::min(body.row_count, census.present_rows - first);
  for (TableField& field : layout.fields) {
    if (field.use != FieldUse::kColumn && field.use != FieldUse::kSkip) field.type = DType::kF64;
  }
  const RecordRowParser parser(std::move(layout.tokens), layout.fields);
  TableBuilder builder(std::move(layout.fields), frame, static_cast<std::size_t>(rows), false);
  ChunkParser chunks(file, body, census, parser, builder, body.skip_rows + first);
  std::vector<Worker> workers(static_cast<std::size_t>(ctx.threads()));
  const std::size_t count = census.rows_before.size() - 1;
  ctx.begin_phase("Reading points", count);
  parallel_for_worker(ctx, count, 1, [&](std::size_t index, std::size_t, int worker) {
    chunks.parse(index, workers[static_cast<std::size_t>(worker)]);
  });
  const Trouble& trouble = chunks.trouble();
  if (rows != 0 && trouble.malformed == rows) {
    throw Error(ErrorCode::kInvalidFile, file.path() + ": no row can be read; " + trouble.first_problem);
  }
  CloudTable table = builder.finish(static_cast<std::size_t>(rows), ctx, layout.keep_invalid);
  table.malformed_dropped = trouble.malformed;
  table.nonfinite_dropped -= trouble.malformed;
  warn(body, census, trouble, layout.row_noun, table.warnings);
  return table;
}

}  // namespace pc::io
