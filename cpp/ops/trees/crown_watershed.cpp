#include "ops/trees/crown_watershed.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/memory.h"

namespace pc {

namespace {

/// A cell to be taken by the crown of a marker.
struct Reached {
  double cost;
  std::uint64_t turn;  ///< order of the pushes
  std::uint32_t cell, marker;

  bool operator<(const Reached& other) const {  // of a heap with the least cost on top
    return cost != other.cost ? cost > other.cost : turn > other.turn;
  }
};

class Front {
 public:
  void push(const Reached& one) {
    heap_.push_back(one);
    std::push_heap(heap_.begin(), heap_.end());
  }
  Reached pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    const Reached top = heap_.back();
    heap_.resize(heap_.size() - 1);
    return top;
  }
  bool empty() const { return heap_.empty(); }

 private:
  BulkVector<Reached> heap_;
};

}  // namespace

Column<std::uint32_t> crown_watershed(const RasterFrame& frame, Span<const double> heights, double least,
                                      const std::vector<CrownMarker>& markers, OpContext& ctx) {
  ctx.begin_phase("Growing crowns", frame.cells());
  const std::int64_t nx = frame.nx, ny = frame.ny;
  Column<std::uint32_t> labels(frame.cells());
  Front front;
  std::uint64_t turn = 0;
  for (std::uint32_t m = 0; m < markers.size(); ++m) {
    const std::uint32_t cell = markers[m].cell;
    require(cell < heights.size && heights[cell] >= least, "a marker must lie in the canopy");
    labels[cell] = markers[m].label;
    front.push({-heights[cell], turn++, cell, m});
  }
  for (std::uint64_t pops = 0; !front.empty(); ++pops) {
    if (pops % 4096 == 0) ctx.checkpoint();
    const Reached at = front.pop();
    const CrownMarker& marker = markers[at.marker];
    if (at.cell != marker.cell) {
      if (labels[at.cell] != 0) continue;
      labels[at.cell] = marker.label;
      ctx.advance(1);
    }
    const std::int64_t x = at.cell % nx, y = at.cell / nx;
    for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(ny - 1, y + 1); ++j) {
      for (std::int64_t i = std::max<std::int64_t>(0, x - 1); i <= std::min(nx - 1, x + 1); ++i) {
        const auto next = static_cast<std::uint32_t>(j * nx + i);
        if (labels[next] != 0 || !(heights[next] >= least)) continue;
        const auto dx = static_cast<double>(i - marker.cell % nx),
                   dy = static_cast<double>(j - marker.cell / nx);
        const double cost = -heights[next] + kCompactness * frame.cell * std::sqrt(dx * dx + dy * dy);
        front.push({cost, turn++, next, at.marker});
      }
    }
  }
  return labels;
}

}  // namespace pc
