#include "io/pcd_body.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "io/lzf.h"
#include "io/record_table.h"

namespace pc::io {

namespace {

constexpr std::size_t kReadBytes = std::size_t{8} << 20;

[[noreturn]] void fail_body(const std::string& path, const std::string& problem) {
  throw Error(ErrorCode::kInvalidFile, path + ": " + problem);
}

BulkVector<std::byte> unpack(const platform::File& file, const PcdHeader& header, std::uint64_t with_padding,
                             std::uint64_t without_padding, OpContext& ctx) {
  std::uint32_t sizes[2] = {0, 0};  // compressed, uncompressed
  if (file.read_at(header.body_offset, sizes, sizeof sizes) != sizeof sizes) {
    fail_body(file.path(), "the file ends before the sizes of the compressed points");
  }
  const std::uint64_t present = file.size() - header.body_offset - sizeof sizes;
  if (sizes[0] > present) {
    fail_body(file.path(), "the compressed points have " + std::to_string(sizes[0]) +
                               " bytes, the file holds " + std::to_string(present) +
                               " of them; it is cut short");
  }
  const auto declares = [&](std::uint64_t stride) {
    return stride != 0 && sizes[1] % stride == 0 && sizes[1] / stride == header.points;
  };
  if (!declares(with_padding) && !declares(without_padding)) {
    fail_body(file.path(), "the points unpack to " + std::to_string(sizes[1]) + " bytes, but " +
                               std::to_string(header.points) + " points of " +
                               std::to_string(without_padding) + " bytes are declared");
  }
  BulkVector<std::byte> packed(sizes[0]);
  ctx.begin_phase("Reading points", sizes[0]);
  for (std::size_t at = 0; at < packed.size(); at += kReadBytes) {
    const std::size_t bytes = std::min(kReadBytes, packed.size() - at);
    ctx.checkpoint();
    if (file.read_at(header.body_offset + sizeof sizes + at, packed.data() + at, bytes) != bytes) {
      throw Error(ErrorCode::kIo, file.path() + ": the file became shorter while it was read");
    }
    ctx.advance(bytes);
  }
  ctx.begin_phase("Unpacking points", 0);
  const std::uint64_t real = lzf_decoded_size(std::as_const(packed).view(), file.path(), ctx);
  if (real != sizes[1]) {
    fail_body(file.path(), "the points unpack to " + std::to_string(real) + " bytes, not to the declared " +
                               std::to_string(sizes[1]));
  }
  BulkVector<std::byte> body(static_cast<std::size_t>(real));
  lzf_decode(std::as_const(packed).view(), body.view(), file.path(), ctx);
  return body;
}

}  // namespace

bool is_packed_color(const PcdField& field) {
  return (same_name(field.name, "rgb") || same_name(field.name, "rgba")) && field.count == 1 &&
         dtype_size(field.type) == 4;
}

PcdBody unpack_body(const platform::File& file, const PcdHeader& header, OpContext& ctx) {
  if (header.points == 0) return {};
  std::uint64_t all = 0, named = 0;
  for (const PcdField& field : header.fields) {
    all += dtype_size(field.type) * field.count;
    named += field.padding() ? 0 : dtype_size(field.type) * field.count;
  }
  PcdBody body;
  body.bytes = unpack(file, header, all, named, ctx);
  body.padded = all != named && body.bytes.size() / header.points == all;  // some writers keep the padding
  return body;
}

}  // namespace pc::io
