#include "io/record_blocks.h"

#include <algorithm>

#include "core/parallel.h"

namespace pc::io {

namespace {
constexpr std::size_t kBlockBytes = std::size_t{1}
                                    << 19;  // a block and its columns fit in the second-level cache
}

void put_records(TableBuilder& builder, const std::vector<RecordSlot>& slots, const std::byte* records,
                 std::size_t stride, std::size_t row, std::size_t count) {
  for (const RecordSlot& slot : slots) builder.put(slot.field, records + slot.offset, stride, row, count);
}

void read_record_blocks(const platform::File& file, std::uint64_t offset, std::size_t stride,
                        const std::vector<RecordSlot>& slots, std::size_t rows, TableBuilder& builder,
                        OpContext& ctx) {
  const std::size_t per_block = std::max<std::size_t>(1, kBlockBytes / stride);
  std::vector<BulkVector<std::byte>> buffers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Reading points", rows);
  parallel_for_worker(ctx, rows, per_block, [&](std::size_t begin, std::size_t end, int worker) {
    BulkVector<std::byte>& buffer = buffers[static_cast<std::size_t>(worker)];
    const std::size_t bytes = (end - begin) * stride;
    if (buffer.size() < bytes) buffer.resize(bytes);
    if (file.read_at(offset + std::uint64_t{begin} * stride, buffer.data(), bytes) != bytes) {
      throw Error(ErrorCode::kIo, file.path() + ": the file became shorter while it was read");
    }
    put_records(builder, slots, buffer.data(), stride, begin, end - begin);
  });
}

}  // namespace pc::io
