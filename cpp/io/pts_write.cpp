#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/ordered_output.h"
#include "io/pts.h"
#include "io/text_format.h"
#include "io/text_rows.h"

namespace pc::io {

namespace {

constexpr std::size_t kBlockRows = 1 << 14;
constexpr std::size_t kMaxRowBytes = 3 * text_format::kMaxNumberBytes + 64;

void check_columns(const CloudView& view) {
  require(view.stride >= 1, "stride must be at least 1");
  const auto check = [&](std::size_t size, const char* what) {
    if (size == 0 || size == view.positions.size) return;
    throw Error(ErrorCode::kInvalidArgument, std::string("column ") + what + " has " + std::to_string(size) +
                                                 " rows, the cloud " + std::to_string(view.positions.size));
  };
  check(view.colors.size, "colour");
  check(view.intensity.size, "intensity");
  check(view.skip.size, "skip");
}

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
  platform::File file = platform::File::create(path);
  const std::string count = std::to_string(selection.selected_count()) + "\n";
  file.write_at(0, count.data(), count.size());
  OrderedOutput output(file, count.size());
  std::vector<BulkVector<char>> buffers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Formatting points", view.positions.size);
  parallel_for_worker(
      ctx, view.positions.size, kBlockRows, [&](std::size_t begin, std::size_t end, int worker) {
        try {
          BulkVector<char>& buffer = buffers[static_cast<std::size_t>(worker)];
          std::size_t used = 0;
          selection.for_each(begin, end, [&](std::size_t row) {
            if (buffer.size() - used < kMaxRowBytes)
              buffer.resize(std::max(buffer.size() * 2, std::size_t{1} << 20));
            used = static_cast<std::size_t>(write_row(view, row, buffer.data() + used) - buffer.data());
          });
          output.append(begin / kBlockRows, buffer.data(), used);
        } catch (...) {
          output.fail();
          throw;
        }
      });
  file.close_checked();
  return {selection.selected_count(), output.end()};
}

}  // namespace pc::io
