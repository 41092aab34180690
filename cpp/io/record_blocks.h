#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/platform.h"
#include "io/record_table.h"

namespace pc::io {

/// Position of a builder's field in a record.
struct RecordSlot {
  std::size_t field;
  std::size_t offset;
};

/// Stores `count` interleaved records of `stride` bytes as rows [row, row + count).
void put_records(TableBuilder& builder, const std::vector<RecordSlot>& slots, const std::byte* records,
                 std::size_t stride, std::size_t row, std::size_t count);

/// Reads `rows` records of `stride` bytes from `offset` of the file to rows [0, rows), in parallel blocks. The caller
/// must have checked the file size; throws kIo if the file shrinks during the read.
void read_record_blocks(const platform::File& file, std::uint64_t offset, std::size_t stride,
                        const std::vector<RecordSlot>& slots, std::size_t rows, TableBuilder& builder,
                        OpContext& ctx);

}  // namespace pc::io
