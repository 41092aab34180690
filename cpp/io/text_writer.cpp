#include "io/text_writer.h"

#include <algorithm>

#include "core/platform.h"
#include "io/cloud_view_checks.h"
#include "io/ordered_output.h"
#include "io/text_rows.h"

namespace pc::io {

namespace {

constexpr std::size_t kBlockRows = 1 << 14;
constexpr std::size_t kMinBlockRows = 1 << 4;
constexpr std::size_t kBlockValues = 1 << 15;  // even with the longest numbers a block takes less than 50 ms

/// Formats the selected rows of one block.
void format_block(const TextRows& rows, const RowSelection& selection, std::size_t begin, std::size_t end,
                  bool line_end_first, BlockBuffer& buffer) {
  bool separate = line_end_first;
  selection.for_each(begin, end, [&](std::size_t row) {
    char* p = buffer.room(rows.max_row_bytes());
    if (separate) *p++ = '\n';
    separate = true;
    buffer.end_at(rows.write_row(row, p));
  });
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
  TextRows rows(view, params);
  const std::size_t block_rows = std::clamp(kBlockValues / rows.column_count(), kMinBlockRows, kBlockRows);
  const RowSelection selection(view, block_rows, ctx);
  rows.inspect(selection, ctx);
  const bool colors_cut = colors_need_16_bits(rows.view(), selection, ctx);

  platform::File file = platform::File::create(path);
  const std::string header = rows.header(selection.selected_count());
  file.write_at(0, header.data(), header.size());
  ctx.begin_phase("Formatting points", view.positions.size);
  std::uint64_t bytes =
      write_in_order(file, header.size(), view.positions.size, block_rows, ctx,
                     [&](std::size_t begin, std::size_t end, BlockBuffer& buffer) {
                       const bool first = selection.selected_before(begin / block_rows) == 0;
                       format_block(rows, selection, begin, end, !header.empty() || !first, buffer);
                     });
  if (params.format == TextFormat::kPly) file.write_at(bytes++, "\n", 1);
  file.close_checked();
  return {selection.selected_count(), bytes, rows.warnings(), rows.rounded(), colors_cut,
          rows.intensity_cut()};
}

}  // namespace pc::io
