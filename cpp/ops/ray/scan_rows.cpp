#include "ops/ray/scan_rows.h"

#include <algorithm>
#include <utility>

#include "core/parallel.h"

namespace pc::scan_plan {

namespace {

/// Drops elements beyond `rows`, and their pages if they are the most.
template <class T>
void fitted(Column<T>& column, std::size_t rows) {
  if (column.size() <= rows) return;
  if (2 * rows >= column.size()) return column.shrink(rows);
  Column<T> few(rows);
  std::copy_n(column.view().data, rows, few.view().data);
  column = std::move(few);
}

}  // namespace

void RecordBlock::add_return(const Plan& plan, std::uint64_t pulse, const PulseBeam& recorded,
                             const PulseReturn& found, std::size_t i, std::size_t count) {
  const double range = plan.recorded(pulse, i, found.range_m);
  records.push_back({recorded.origin + recorded.direction * range, static_cast<std::uint32_t>(pulse),
                     static_cast<float>(found.energy), static_cast<float>(range), found.organ,
                     static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(count), 0});
  if (!plan.has_extras) return;
  const std::uint32_t same = plan.traced_rays == 1 ? plan.params.rays_per_pulse : 1;
  extras.push_back({static_cast<float>(found.deviation_m), found.ray_count * same, found.color});
}

void RecordBlock::add_miss(const Plan& plan, std::uint64_t pulse, const PulseBeam& recorded) {
  records.push_back({recorded.origin + recorded.direction * kScanReach, static_cast<std::uint32_t>(pulse), 0,
                     static_cast<float>(kScanReach), 0, kMissIndex, 0, 1});
  if (plan.has_extras) extras.push_back({0, 0, {0, 0, 0}});
}

ScanRows::ScanRows(const Plan& plan, std::size_t blocks)
    : plan_(plan), at_once_(plan.rules.most == 1), waiting_(blocks), is_there_(blocks, 0) {
  if (at_once_) allocate(static_cast<std::size_t>(plan.params.pattern.pulse_count));
}

void ScanRows::allocate(std::size_t rows) {
  const bool moving = plan_.params.is_moving, multi = plan_.params.is_multi_return;
  const auto of = [&](bool wanted) { return wanted ? rows : 0; };
  out_ = {Column<Vec3d>(rows),
          Column<std::uint8_t>(rows),
          Column<float>(rows),
          Column<std::uint16_t>(rows),
          Column<float>(rows),
          Column<double>(rows),
          Column<std::uint8_t>(rows),
          Column<std::uint8_t>(rows),
          Column<Rgb16>(of(plan_.scene.has_colors())),
          Column<std::uint8_t>(of(plan_.scene.has_organs())),
          Column<float>(of(multi)),
          Column<std::uint32_t>(of(multi)),
          Column<std::uint32_t>(of(moving)),
          Column<Vec3d>(of(moving)),
          0,
          0,
          plan_.params.pattern.pulse_count,
          {}};
}

void ScanRows::add(std::size_t block, RecordBlock& rows) {
  std::vector<Placed> now;
  std::uint64_t misses = 0;
  for (const Record& record : rows.records) misses += record.is_miss;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    misses_ += misses;
    waiting_[block] = std::move(rows);
    rows = RecordBlock();
    is_there_[block] = 1;
    if (at_once_) place(now);
    if (now.empty() && !spare_.empty()) {
      rows = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  for (const Placed& one : now) put(one);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Placed& one : now) {
    one.rows.clear();
    spare_.push_back(std::move(one.rows));
  }
  if (now.empty()) return;
  rows = std::move(spare_.back());
  spare_.pop_back();
}

void ScanRows::place(std::vector<Placed>& now) {
  for (; next_ < waiting_.size() && is_there_[next_] != 0; ++next_) {
    now.push_back({rows_, std::move(waiting_[next_])});
    rows_ += now.back().rows.records.size();
  }
}

SyntheticScan ScanRows::take(OpContext& ctx) {
  if (!at_once_) {
    std::vector<Placed> all;
    place(all);
    allocate(rows_);
    parallel_for(ctx, all.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) {
        put(all[b]);
        all[b].rows = RecordBlock();
      }
    });
  }
  fit(rows_);
  out_.miss_count = misses_;
  out_.hit_count = rows_ - misses_;
  return std::move(out_);
}

void ScanRows::put(const Placed& block) {
  const BulkVector<Record>& records = block.rows.records;
  const std::size_t n = records.size(), first = block.first_row;
  const auto each = [&](auto& column, const auto& value) {
    if (column.size() == 0) return;
    auto* const to = &column[0] + first;
    for (std::size_t i = 0; i < n; ++i) to[i] = value(records[i]);
  };
  each(out_.positions, [](const Record& r) { return r.position; });
  each(out_.is_miss, [](const Record& r) { return r.is_miss; });
  each(out_.intensity, [](const Record& r) { return r.intensity; });
  each(out_.intensity_16, [](const Record& r) {
    return static_cast<std::uint16_t>(std::min(r.intensity, 1.0F) * 65535 + 0.5F);
  });
  each(out_.distance, [](const Record& r) { return r.distance; });
  each(out_.time, [&](const Record& r) { return plan_.time_of(r.pulse); });
  each(out_.target_index, [](const Record& r) { return r.index; });
  each(out_.target_count, [](const Record& r) { return r.count; });
  each(out_.organ, [](const Record& r) { return r.organ; });
  each(out_.pulse, [](const Record& r) { return r.pulse; });
  each(out_.beam_origin,
       [&](const Record& r) { return plan_.poses.origin(plan_.poses.at(plan_.time_of(r.pulse))); });
  put_extras(block);
}

void ScanRows::put_extras(const Placed& block) {
  const BulkVector<RecordExtra>& extras = block.rows.extras;
  for (std::size_t i = 0; i < extras.size(); ++i) {
    const std::size_t row = block.first_row + i;
    if (out_.color.size() > 0) out_.color[row] = extras[i].color;
    if (out_.deviation.size() == 0) continue;
    out_.deviation[row] = extras[i].deviation;
    out_.ray_count[row] = extras[i].ray_count;
  }
}

void ScanRows::fit(std::size_t rows) {
  fitted(out_.positions, rows);
  fitted(out_.is_miss, rows);
  fitted(out_.intensity, rows);
  fitted(out_.intensity_16, rows);
  fitted(out_.distance, rows);
  fitted(out_.time, rows);
  fitted(out_.target_index, rows);
  fitted(out_.target_count, rows);
  fitted(out_.color, rows);
  fitted(out_.organ, rows);
  fitted(out_.deviation, rows);
  fitted(out_.ray_count, rows);
  fitted(out_.pulse, rows);
  fitted(out_.beam_origin, rows);
}

}  // namespace pc::scan_plan
