#include "ops/trees/divided_stems.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "spatial/space_cells.h"

namespace pc {

namespace {

constexpr double kRoom = 0.03, kThickest = 2;  // metres
constexpr std::size_t kCrowd = 64, kPoll = 1024;

class Division {
 public:
  Division(Span<const PlacedStem> stems, const LayerMotion& motion)
      : stems_(stems), motion_(motion), whole_(stems.size) {
    std::iota(whole_.begin(), whole_.end(), std::size_t{0});
  }

  std::vector<std::size_t> run(OpContext& ctx) {
    double reach = 0;
    for (std::size_t i = 0; i < stems_.size; ++i) reach = std::max(reach, reach_of(i));
    if (!(reach > 0)) return whole_;
    Cells<2> cells({reach, reach});
    for (std::size_t i = 0; i < stems_.size; ++i)
      if (reach_of(i) > 0) cells.add({stems_[i].at.x, stems_[i].at.y}, i);
    for (std::size_t j = 0; j < stems_.size; ++j) {
      if (j % kPoll == 0) ctx.checkpoint();
      std::vector<std::size_t> near;
      cells.near({stems_[j].at.x, stems_[j].at.y}, [&](std::size_t i) {
        if (i != j) near.push_back(i);
        return near.size() <= kCrowd;
      });
      if (near.size() > kCrowd) continue;
      for (const std::size_t i : near)
        if (is_of_one_stem(i, j)) join(root_of(i), root_of(j));
    }
    for (std::size_t j = 0; j < stems_.size; ++j) whole_[j] = root_of(j);
    return whole_;
  }

 private:
  double apart_at(std::size_t i) const {
    const Vec2d apart = motion_.at(stems_[i].at);
    return std::hypot(apart.x, apart.y);
  }
  /// How far from its middle a stem with a diameter is looked for; 0 for the others.
  double reach_of(std::size_t i) const {
    const double diameter = stems_[i].diameter_m;
    return diameter > 0 && diameter <= kThickest ? diameter / 2 + apart_at(i) + kRoom : 0;
  }
  bool is_of_one_stem(std::size_t i, std::size_t j) const {
    const double away = std::hypot(stems_[i].at.x - stems_[j].at.x, stems_[i].at.y - stems_[j].at.y);
    if (!(stems_[j].diameter_m > 0)) return away <= reach_of(i);
    return away <= apart_at(i) + kRoom && away < (stems_[i].diameter_m + stems_[j].diameter_m) / 2;
  }
  std::size_t root_of(std::size_t i) {
    while (whole_[i] != i) i = whole_[i] = whole_[whole_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    if (a == b) return;
    const auto rank = [&](std::size_t i) {
      return std::tuple{!(stems_[i].diameter_m > 0), -stems_[i].point_count, i};
    };
    whole_[std::max(a, b, [&](std::size_t x, std::size_t y) { return rank(x) < rank(y); })] =
        std::min(a, b, [&](std::size_t x, std::size_t y) { return rank(x) < rank(y); });
  }

  Span<const PlacedStem> stems_;
  const LayerMotion& motion_;
  std::vector<std::size_t> whole_;
};

}  // namespace

std::vector<std::size_t> divided_stems(Span<const PlacedStem> stems, const LayerMotion& motion,
                                       OpContext& ctx) {
  return Division(stems, motion).run(ctx);
}

}  // namespace pc
