#include "cost_case.h"
#include "ops/cloud/compact.h"
#include "ops/cloud/mark_deleted.h"
#include "ops/cloud/mask_logic.h"
#include "ops/cloud/merge_frames.h"
#include "ops/cloud/project_misses.h"
#include "ops/cloud/row_set.h"
#include "ops/cloud/select_hits.h"
#include "ops/denoise/noise_labels.h"

namespace pc::bench {

namespace {

constexpr std::size_t kRows = 200'000;

struct MaskedRows {
  Column<std::uint8_t> mask;
  AnyColumn misses;  ///< the same rows as float64
  AnyColumn values;
  Column<Vec3d> positions;

  Span<const std::uint8_t> view() const { return mask.view(); }
};

MaskedRows masked_rows(const WorstMask& mask, std::size_t n) {
  Column<double> misses(n);
  for (std::size_t i = 0; i < n; ++i) misses[i] = mask.at(i, n) ? 1 : 0;
  return {mask_column(mask, n), AnyColumn(std::move(misses)), AnyColumn(value_column(worst_values()[0], n)),
          position_column(worst_values()[0], n)};
}

using MaskRun = std::function<void(const MaskedRows&, OpContext&)>;

std::vector<std::pair<const char*, MaskRun>> mask_ops() {
  using R = const MaskedRows&;
  using X = OpContext&;
  return {
      {"mark_deleted", [](R rows, X ctx) { mark_deleted(rows.view(), nullptr, {}, ctx); }},
      {"row_set encode_rows", [](R rows, X ctx) { encode_rows(rows.view(), ctx); }},
      {"row_set union_rows",
       [](R rows, X ctx) {
         const RowSet set = encode_rows(rows.view(), ctx);
         const RowSetView view{set.encoding, &set.data, set.count};
         union_rows(rows.mask.size(), {}, {view, view, view}, ctx);
       }},
      {"mask_logic",
       [](R rows, X ctx) {
         combine_masks({{rows.view(), false}, {rows.view(), true}, {rows.view(), false}}, MaskLogic::kOr,
                       ctx);
       }},
      {"compact",
       [](R rows, X ctx) {
         compact({&rows.values, &rows.misses, &rows.values}, rows.view(), ctx);
       }},
      {"merge_frames drop",
       [](R rows, X ctx) {
         merge_frames({{&rows.values, rows.values.size(), rows.view(), {}, {}}}, {DType::kF64, 0}, ctx);
       }},
      {"select_hits hit_mask",
       [](R rows, X ctx) { hit_mask(rows.mask.size(), &rows.misses, rows.view(), ctx); }},
      {"select_hits", [](R rows, X ctx) { select_hits(const_view(rows.positions), rows.view(), ctx); }},
      {"project_misses miss_overlay",
       [](R rows, X ctx) {
         miss_overlay(const_view(rows.positions), &rows.misses, {}, {}, Vec3d{500, 500, 0}, ctx);
       }},
      {"noise_labels noise_on_rows",
       [](R rows, X ctx) {
         const HitSelection hits = select_hits(const_view(rows.positions), rows.view(), ctx);
         noise_on_rows(hits, rows.view(), Column<std::uint8_t>(hits.size()), ctx);
       }},
  };
}

}  // namespace

void add_mask_costs(CostCases& cases) {
  for (const auto& [op, run] : mask_ops()) {
    for (const WorstMask& mask : worst_masks()) {
      cases.push_back(
          {op, mask.name, kRows, prepared([mask](std::size_t n) { return masked_rows(mask, n); }, run)});
    }
  }
  cases.push_back(
      {"mask_logic", "many terms", 50,
       prepared(
           [](std::size_t n) {
             return std::pair{mask_column(worst_masks()[0], 10'000), n};
           },
           [](auto& input, OpContext& ctx) {
             const std::vector<MaskTerm> terms(input.second, MaskTerm{const_view(input.first), false});
             combine_masks(terms, MaskLogic::kAnd, ctx);
           }),
       1, HUGE_VAL});
  cases.push_back(
      {"row_set union_rows", "many sets", 50,
       prepared(
           [](std::size_t n) {
             return std::pair{mask_column(worst_masks()[0], 10'000), n};
           },
           [](auto& input, OpContext& ctx) {
             const RowSet set = encode_rows(const_view(input.first), ctx);
             const std::vector<RowSetView> sets(input.second, RowSetView{set.encoding, &set.data, set.count});
             union_rows(input.first.size(), {}, sets, ctx);
           }),
       1, HUGE_VAL});
}

}  // namespace pc::bench
