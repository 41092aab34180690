#include "ops/wood/place_cells.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/polled_sort.h"

namespace pc {

namespace {

constexpr double kMostCells = 0x1.fp30;
constexpr std::size_t kBlock = 65'536;

struct Place {
  std::int32_t x, y, z;
  std::uint32_t row;

  auto cell() const { return std::tie(x, y, z); }
  auto key() const { return std::tie(x, y, z, row); }
};

}  // namespace

PlaceCells place_cells(Span<const Vec3d> places, double edge_m, OpContext& ctx) {
  double reach = 0;
  for (const Vec3d& p : places) reach = std::max({reach, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  const double edge = std::max(edge_m, reach / kMostCells);
  const auto index = [&](double value) { return static_cast<std::int32_t>(std::floor(value / edge)); };
  BulkVector<Place> sorted(places.size);
  for (std::size_t i = 0; i < places.size; ++i) {
    if (i % kBlock == 0) ctx.checkpoint();
    sorted[i] = {index(places[i].x), index(places[i].y), index(places[i].z), static_cast<std::uint32_t>(i)};
  }
  polled_sort(
      sorted.begin(), sorted.end(), [](const Place& a, const Place& b) { return a.key() < b.key(); }, ctx);
  PlaceCells out;
  out.cell_of.resize(places.size);
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    Vec3d sum{0, 0, 0};
    for (; end < sorted.size() && sorted[end].cell() == sorted[i].cell(); ++end) {
      if (end % kBlock == 0) ctx.checkpoint();
      out.cell_of[sorted[end].row] = static_cast<std::uint32_t>(out.place.size());
      sum = sum + (places[sorted[end].row] - places[sorted[i].row]);
    }
    out.place.push_back(places[sorted[i].row] + sum * (1.0 / static_cast<double>(end - i)));
    i = end;
  }
  return out;
}

}  // namespace pc
