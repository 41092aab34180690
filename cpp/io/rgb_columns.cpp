#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "core/parallel.h"
#include "io/record_table.h"

namespace pc::io {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 17;
constexpr std::size_t kMissing = std::numeric_limits<std::size_t>::max();

struct Triple {
  std::size_t channel[3];
};

std::size_t find_column(const CloudTable& table, const char* name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (same_name(table.columns[i].name, name)) return i;
  }
  return kMissing;
}

std::optional<Triple> find_triple(const CloudTable& table) {
  static constexpr const char* kNames[][3] = {
      {"red", "green", "blue"}, {"diffuse_red", "diffuse_green", "diffuse_blue"}, {"r", "g", "b"}};
  for (const auto& names : kNames) {
    const Triple t{
        {find_column(table, names[0]), find_column(table, names[1]), find_column(table, names[2])}};
    if (t.channel[0] != kMissing && t.channel[1] != kMissing && t.channel[2] != kMissing) return t;
  }
  return std::nullopt;
}

double largest(const AnyColumn& column, OpContext& ctx) {
  double result = 0;
  std::mutex mutex;
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      double block = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const auto v = static_cast<double>(values[i]);
        if (v > block && std::isfinite(v)) block = v;
      }
      const std::lock_guard<std::mutex> lock(mutex);
      result = std::max(result, block);
    });
  });
  return result;
}

/// Factor from file units to 16 bits, from the type or, if that is ambiguous, from the largest value.
double scale_of(CloudTable& table, const Triple& triple, OpContext& ctx) {
  bool all_u8 = true, all_u16 = true, any_float = false;
  double top = 0;
  for (const std::size_t c : triple.channel) {
    const DType type = table.columns[c].values.dtype();
    all_u8 = all_u8 && type == DType::kU8;
    all_u16 = all_u16 && type == DType::kU16;
    any_float = any_float || type == DType::kF32 || type == DType::kF64;
  }
  if (all_u8) return 256;
  if (all_u16) return 1;
  for (const std::size_t c : triple.channel) top = std::max(top, largest(table.columns[c].values, ctx));
  if (any_float && top <= 1) return 65535;
  if (top <= 255) return 256;
  table.warnings.push_back("colour values up to " +
                           std::to_string(static_cast<std::uint64_t>(std::min(top, 1e18))) +
                           " are read as 16-bit colour; larger ones become 65535");
  return 1;
}

std::uint16_t to_u16(double value) {
  if (!(value > 0)) return 0;
  return value >= 65535 ? std::uint16_t{65535} : static_cast<std::uint16_t>(std::floor(value + 0.5));
}

}  // namespace

void merge_rgb(CloudTable& table, OpContext& ctx) {
  const std::optional<Triple> triple = find_triple(table);
  if (!triple) return;
  const double scale = scale_of(table, *triple, ctx);
  table.color_full = scale == 256 ? 65280 : 65535;
  const std::size_t rows = table.positions.size();
  Column<Rgb16> rgb(rows);
  static constexpr std::uint16_t Rgb16::*kMembers[3] = {&Rgb16::r, &Rgb16::g, &Rgb16::b};
  for (int k = 0; k < 3; ++k) {
    Rgb16* const to = rgb.view().data;
    const auto member = kMembers[k];
    visit_scalar(table.columns[triple->channel[k]].values, [&](auto values) {
      parallel_for(ctx, rows, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          to[i].*member = to_u16(static_cast<double>(values[i]) * scale);
      });
    });
  }
  if (scale == 65535) {
    for (const std::size_t c : triple->channel)
      table.unit_colors.push_back(std::move(table.columns[c].values));
  }
  const std::size_t place = *std::min_element(std::begin(triple->channel), std::end(triple->channel));
  table.columns[place] = NamedColumn{"rgb", "", false, AnyColumn(std::move(rgb))};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool merged =
        std::find(std::begin(triple->channel), std::end(triple->channel), i) != std::end(triple->channel);
    if (merged && i != place) continue;
    if (kept != i) table.columns[kept] = std::move(table.columns[i]);
    ++kept;
  }
  table.columns.resize(kept);
}

}  // namespace pc::io
