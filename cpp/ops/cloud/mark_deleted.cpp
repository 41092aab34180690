#include "ops/cloud/mark_deleted.h"

#include <atomic>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

}  // namespace

Deletion mark_deleted(Span<const std::uint8_t> selected, const AnyColumn* is_miss,
                      Span<const std::uint8_t> deleted, OpContext& ctx) {
  const std::size_t n = selected.size;
  require(is_miss == nullptr || is_miss->size() == n, "is_miss must have one value per selected row");
  require(deleted.empty() || deleted.size == n, "the deleted mask must have one entry per selected row");
  ctx.begin_phase("Deleting points", n);
  Column<std::uint8_t> mask(n), fresh(n);
  std::atomic<std::uint64_t> selected_hits{0};
  const auto mark = [&](const auto& is_hit) {
    parallel_for(ctx, n, kGrain,
                 [&, out = mask.view(), rows = fresh.view()](std::size_t begin, std::size_t end) {
                   std::uint32_t hits = 0;
                   for (std::size_t i = begin; i < end; ++i) {
                     const unsigned before = !deleted.empty() && deleted[i] != 0 ? 1 : 0;
                     const unsigned hit = selected[i] != 0 && is_hit(i) ? 1 : 0;
                     hits += hit;
                     rows[i] = static_cast<std::uint8_t>(hit & (before ^ 1U));
                     out[i] = static_cast<std::uint8_t>(before | hit);
                   }
                   selected_hits += hits;
                 });
  };
  if (is_miss == nullptr) {
    mark([](std::size_t) { return true; });
  } else {
    visit_scalar(*is_miss, [&](auto values) { mark([=](std::size_t i) { return values[i] == 0; }); });
  }
  return {std::move(mask), encode_rows(fresh.view(), ctx), selected_hits};
}

}  // namespace pc
