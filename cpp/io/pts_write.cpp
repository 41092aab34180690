#include "core/error.h"
#include "core/platform.h"
#include "io/cloud_view_checks.h"
#include "io/ordered_output.h"
#include "io/pts.h"
#include "io/text_format.h"
#include "io/text_rows.h"

namespace pc::io {

namespace {

constexpr std::size_t kBlockRows = 1 << 14;
constexpr std::size_t kMaxRowBytes = 3 * text_format::kMaxNumberBytes + 64;

char* write_row(const CloudView& view, std::size_t row, char* p) {
  using namespace text_format;
  const Vec3d place = view.positions[row] + view.offset;
  for (const double value : {place.x, place.y, place.z}) {
    p = fixed6(value, p);
    *p++ = ' ';
  }
  const std::int64_t step =
      view.intensity.empty() ? 0 : (std::int64_t{view.intensity[row]} * 4095 + 32767) / 65535 - 2048;
  p = integer(step, p);
  const Rgb16 color = view.colors.empty() ? Rgb16{0, 0, 0} : view.colors[row];
  for (const std::uint16_t channel : {color.r, color.g, color.b}) {
    *p++ = ' ';
    p = color255(channel, p);
  }
  *p++ = '\n';
  return p;
}

}  // namespace

PtsWriteResult write_pts(const CloudView& view, const std::string& path, OpContext& ctx) {
  check_columns(view);
  const RowSelection selection(view, kBlockRows, ctx);
  const bool colors_cut = colors_need_16_bits(view, selection, ctx);
  platform::File file = platform::File::create(path);
  const std::string count = std::to_string(selection.selected_count()) + "\n";
  file.write_at(0, count.data(), count.size());
  ctx.begin_phase("Formatting points", view.positions.size);
  const std::uint64_t bytes =
      write_in_order(file, count.size(), view.positions.size, kBlockRows, ctx,
                     [&](std::size_t begin, std::size_t end, BlockBuffer& buffer) {
                       selection.for_each(begin, end, [&](std::size_t row) {
                         buffer.end_at(write_row(view, row, buffer.room(kMaxRowBytes)));
                       });
                     });
  file.close_checked();
  return {selection.selected_count(), bytes, colors_cut};
}

}  // namespace pc::io
