#include "ops/qsm/wood_views.h"

#include <algorithm>
#include <numeric>

#include "ops/qsm/tree_sway.h"

namespace pc {

namespace {

/// The number of each view among those that are kept; kNoView where its scan has none of them.
std::vector<std::uint32_t> numbers_of(const ViewSplit& split, const std::vector<std::size_t>& points) {
  std::vector<std::size_t> kept(split.count());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] > points[b]; });
  kept.resize(std::min(kept.size(), kMostSwayViews));
  std::sort(kept.begin(), kept.end());
  std::vector<std::uint32_t> out(split.count(), kNoView);
  for (std::size_t view = 0; view < split.count(); ++view) {
    const ViewStamp at = split.at(view);
    double nearest = HUGE_VAL;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const ViewStamp other = split.at(kept[k]);
      const double apart = std::fabs(other.time_s - at.time_s);
      if (other.scan != at.scan || !(apart < nearest)) continue;
      nearest = apart;
      out[view] = static_cast<std::uint32_t>(k);
    }
  }
  return out;
}

}  // namespace

WoodViews wood_views(const std::vector<ViewStamp>& stamps, const OpContext& ctx) {
  const ViewSplit split(stamps, ctx);
  WoodViews out{std::vector<std::uint32_t>(stamps.size(), kNoView), std::min(split.count(), kMostSwayViews)};
  std::vector<std::size_t> points(split.count(), 0);
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    out.view[i] = split.of(stamps[i]);
    if (out.view[i] != kNoView) ++points[out.view[i]];
  }
  const std::vector<std::uint32_t> numbers = numbers_of(split, points);
  for (std::uint32_t& view : out.view)
    if (view != kNoView) view = numbers[view];
  return out;
}

}  // namespace pc
