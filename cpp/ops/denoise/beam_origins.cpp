#include "ops/denoise/beam_origins.h"

#include <algorithm>
#include <limits>

#include "core/parallel.h"

namespace pc {

Column<Vec3d> beam_origins_of_scans(const AnyColumn& scan_index, Span<const ScanOrigin> scans,
                                    OpContext& ctx) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Column<Vec3d> origins(scan_index.size());
  const Span<Vec3d> to = origins.view();
  visit_scalar(scan_index, [&](auto values) {
    parallel_for(ctx, values.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
      const ScanOrigin* last = nullptr;  // rows of one scan follow each other
      for (std::size_t i = begin; i < end; ++i) {
        const auto wanted = static_cast<double>(values[i]);
        if (last == nullptr || last->scan_index != wanted)
          last = std::find_if(scans.begin(), scans.end(),
                              [&](const ScanOrigin& scan) { return scan.scan_index == wanted; });
        if (last == scans.end()) {
          last = nullptr;
          to[i] = {kNone, kNone, kNone};
        } else {
          to[i] = last->origin;
        }
      }
    });
  });
  return origins;
}

}  // namespace pc
