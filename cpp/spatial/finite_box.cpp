#include "spatial/finite_box.h"

#include <vector>

#include "core/parallel.h"

namespace pc {

Box3d finite_box(Span<const Vec3d> points, OpContext& ctx) {
  constexpr std::size_t kBlock = std::size_t{1} << 15;
  std::vector<Box3d> boxes((points.size + kBlock - 1) / kBlock);
  parallel_for(ctx, points.size, kBlock, [&](std::size_t begin, std::size_t end) {
    Box3d box;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_finite(points[i])) box.add(points[i]);
    }
    boxes[begin / kBlock] = box;
  });
  Box3d all;
  for (const Box3d& box : boxes) all.add(box);
  return all;
}

}  // namespace pc
