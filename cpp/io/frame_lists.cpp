#include "io/frame_lists.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/parallel.h"

namespace pc::io {

namespace {

static_assert(std::endian::native == std::endian::little, "the elements of a frame are little-endian");

using Kind = JsonShape::Kind;
constexpr std::size_t kGrain = std::size_t{1} << 16;

double element(const std::byte* at, bool is_float) {
  if (is_float) {
    float value = 0;
    std::memcpy(&value, at, 4);
    return value;
  }
  std::uint32_t value = 0;
  std::memcpy(&value, at, 4);
  return value;
}

}  // namespace

JsonList read_frame_list(Span<const std::byte> bytes, const FrameBuffer& buffer, OpContext& ctx) {
  require(buffer.offset <= bytes.size && buffer.count <= (bytes.size - buffer.offset) / 4,
          "a buffer ends behind its frame");
  const bool points = buffer.kind == Kind::kPoints;
  require(points || buffer.kind == Kind::kNumbers || buffer.kind == Kind::kHeights,
          "this list has no form as a buffer of a frame; send it in the request of the meta");
  const std::size_t width = points ? 3 : 1;
  const auto rows = static_cast<std::size_t>(buffer.count / width);
  ctx.begin_phase("Reading the request", rows);
  JsonList out;
  out.length = rows;
  if (buffer.count % width != 0) return out;
  AnyColumn column(points ? DType::kVec3d : DType::kF64, rows);
  const auto values = reinterpret_cast<double*>(column.data());
  const std::byte* const first = bytes.data + buffer.offset;
  const double shift[3] = {buffer.origin.x, buffer.origin.y, buffer.origin.z};
  const bool voids = buffer.kind == Kind::kHeights;
  std::atomic<bool> valid{true};
  parallel_for(ctx, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    bool fits = true;
    for (std::size_t i = begin * width; i < end * width; ++i) {
      const double value = element(first + 4 * i, buffer.is_float);
      fits &= std::isfinite(value) || (voids && std::isnan(value));
      values[i] = points ? value + shift[i % 3] : value;
    }
    if (!fits) valid = false;
  });
  out.valid = valid;
  if (valid) out.column = std::move(column);
  return out;
}

}  // namespace pc::io
