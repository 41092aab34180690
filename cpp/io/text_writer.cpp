#include "io/text_writer.h"

#include <algorithm>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/ordered_output.h"
#include "io/text_rows.h"

namespace pc::io {

namespace {

constexpr std::size_t kBlockRows = 1 << 14;
constexpr std::size_t kMinBlockRows = 1 << 4;
constexpr std::size_t kBlockValues = 1 << 15;  // a block of the longest numbers stays below 50 ms
constexpr std::size_t kFirstBufferBytes = std::size_t{1} << 20;

/// Formats the selected rows of one block into `buffer`; returns the bytes.
std::size_t format_block(const TextRows& rows, const RowSelection& selection, std::size_t begin,
                         std::size_t end, bool line_end_first, BulkVector<char>& buffer) {
  const std::size_t row_bytes = rows.max_row_bytes();
  std::size_t used = 0;
  bool separate = line_end_first;
  selection.for_each(begin, end, [&](std::size_t row) {
    if (buffer.size() - used < row_bytes) buffer.resize(std::max(buffer.size() * 2, used + row_bytes));
    char* p = buffer.data() + used;
    if (separate) *p++ = '\n';
    separate = true;
    used = static_cast<std::size_t>(rows.write_row(row, p) - buffer.data());
  });
  return used;
}

}  // namespace

TextWriteParams cloud_export_layout(TextFormat format) {
  const bool table = format == TextFormat::kTxt || format == TextFormat::kCsv;
  const bool columns = table || format == TextFormat::kPly;
  return {format, table ? TextHeader::kTitles : TextHeader::kNone, columns, table, columns, columns, columns};
}

TextWriteParams scan_export_layout(TextFormat format) {
  const TextHeader header = format == TextFormat::kCsv ? TextHeader::kSlugs : TextHeader::kCommentedSlugs;
  return {format, header, true, true, true, true, true};
}

TextWriteResult write_text(const CloudView& view, const TextWriteParams& params, const std::string& path,
                           OpContext& ctx) {
  require(view.stride >= 1, "stride must be at least 1");
  TextRows rows(view, params);
  const std::size_t block_rows = std::clamp(kBlockValues / rows.column_count(), kMinBlockRows, kBlockRows);
  const RowSelection selection(view, block_rows, ctx);
  rows.inspect(selection, ctx);

  platform::File file = platform::File::create(path);
  const std::string header = rows.header(selection.selected_count());
  file.write_at(0, header.data(), header.size());
  OrderedOutput output(file, header.size());
  std::vector<BulkVector<char>> buffers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Formatting points", view.positions.size);
  parallel_for_worker(
      ctx, view.positions.size, block_rows, [&](std::size_t begin, std::size_t end, int worker) {
        try {
          BulkVector<char>& buffer = buffers[static_cast<std::size_t>(worker)];
          if (buffer.empty()) buffer.resize(kFirstBufferBytes);
          const std::size_t block = begin / block_rows;
          const bool line_end_first = !header.empty() || selection.selected_before(block) != 0;
          const std::size_t bytes = format_block(rows, selection, begin, end, line_end_first, buffer);
          output.append(block, buffer.data(), bytes);
        } catch (...) {
          output.fail();
          throw;
        }
      });
  file.close_checked();
  return {selection.selected_count(), output.end()};
}

}  // namespace pc::io
