#include "ops/cloud/compact.h"

#include <cstring>

#include "core/gather.h"
#include "ops/cloud/kept_rows.h"

namespace pc {

std::vector<AnyColumn> compact(const std::vector<const AnyColumn*>& columns, Span<const std::uint8_t> drop,
                               OpContext& ctx) {
  for (const AnyColumn* column : columns)
    require(column->size() == drop.size, "a column and the drop mask differ in length");
  ctx.begin_phase("Dropping points", 2 * drop.size);
  const KeptRows kept(drop.size, drop, ctx);
  std::vector<AnyColumn> out;
  for (const AnyColumn* column : columns) out.emplace_back(column->dtype(), kept.kept_count());
  std::vector<std::byte*> to;
  for (AnyColumn& column : out) to.push_back(column.data());

  parallel_for(ctx, drop.size, KeptRows::kBlock, [&](std::size_t begin, std::size_t) {
    const std::size_t block = begin / KeptRows::kBlock, count = kept.kept_in(block);
    if (count == 0) return;
    std::uint32_t rows[KeptRows::kBlock];
    if (!kept.all_kept_in(block)) kept.list(block, rows);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      ctx.checkpoint();
      const std::size_t size = dtype_size(columns[c]->dtype());
      const std::byte* const from = columns[c]->data() + begin * size;
      std::byte* const at = to[c] + kept.start(block) * size;
      if (kept.all_kept_in(block)) {
        std::memcpy(at, from, count * size);
      } else {
        gather_rows(size, from, rows, count, at);
      }
    }
  });
  return out;
}

}  // namespace pc
