#include "ops/denoise/beam_origins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

/// Ordered by number, equal numbers as they came. NaN is the number of no row.
std::vector<ScanOrigin> by_number(Span<const ScanOrigin> scans) {
  std::vector<ScanOrigin> ordered;
  std::copy_if(scans.begin(), scans.end(), std::back_inserter(ordered),
               [](const ScanOrigin& scan) { return !std::isnan(scan.scan_index); });
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const ScanOrigin& a, const ScanOrigin& b) { return a.scan_index < b.scan_index; });
  return ordered;
}

}  // namespace

Column<Vec3d> beam_origins_of_scans(const AnyColumn& scan_index, Span<const ScanOrigin> scans,
                                    OpContext& ctx) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ScanOrigin> ordered = by_number(scans);
  Column<Vec3d> origins(scan_index.size());
  const Span<Vec3d> to = origins.view();
  visit_scalar(scan_index, [&](auto values) {
    parallel_for(ctx, values.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
      const ScanOrigin* last = nullptr;  // rows of one scan follow each other
      for (std::size_t i = begin; i < end; ++i) {
        const auto wanted = static_cast<double>(values[i]);
        if (last == nullptr || last->scan_index != wanted) {
          const auto at = std::lower_bound(
              ordered.begin(), ordered.end(), wanted,
              [](const ScanOrigin& scan, double number) { return scan.scan_index < number; });
          last = at != ordered.end() && at->scan_index == wanted ? &*at : nullptr;
        }
        to[i] = last == nullptr ? Vec3d{kNone, kNone, kNone} : last->origin;
      }
    });
  });
  return origins;
}

}  // namespace pc
