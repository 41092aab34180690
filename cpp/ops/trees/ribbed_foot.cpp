#include "ops/trees/ribbed_foot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/trees/stem_frame.h"

namespace pc {

namespace {

constexpr double kLevel = 0.25, kHighest = 12, kReach = 3;  // metres
constexpr double kShare = 0.9;                              // of the points of a level
constexpr double kRoom = 0.03, kRoomPart = 0.1;             // metres; of the radius
constexpr std::size_t kFewestPoints = 10, kRoundLevels = 2;
constexpr double kRise = 0.05;                     // metres from level to level
constexpr double kFall = 0.5, kHalfwayFall = 0.8;  // of the lowest level: the last one, and the one halfway
constexpr double kMostRibSectors = 0.75;
constexpr double kAboveFoot = 0.5;  // metres

/// The stem between two sections of its curve.
struct Core {
  Vec2d center;
  double radius;
};

Core core_at(const std::vector<StemSection>& sections, double axial) {
  const auto of = [](const StemSection& s) { return Core{s.circle.center, s.circle.radius}; };
  const auto above = std::find_if(sections.begin(), sections.end(),
                                  [&](const StemSection& section) { return section.axial_m >= axial; });
  if (above == sections.end()) return of(sections.back());
  if (above == sections.begin()) return of(*above);
  const StemSection& low = *(above - 1);
  const double part = (axial - low.axial_m) / (above->axial_m - low.axial_m);
  const auto mix = [&](double a, double b) { return a + part * (b - a); };
  return {
      {mix(low.circle.center.x, above->circle.center.x), mix(low.circle.center.y, above->circle.center.y)},
      mix(low.circle.radius, above->circle.radius)};
}

/// How far the points of each level lie outside of the stem.
struct Levels {
  std::vector<double> outside, room;  ///< NaN: too few points
  bool is_round(std::size_t level) const { return outside[level] <= room[level]; }
};

Levels levels_of(Span<const Vec3d> points, const Stem& stem, const std::vector<StemSection>& sections) {
  const auto count = static_cast<std::size_t>(kHighest / kLevel);
  std::vector<std::vector<double>> off(count);
  std::vector<Core> cores;
  for (std::size_t i = 0; i < count; ++i)
    cores.push_back(core_at(sections, (static_cast<double>(i) + 0.5) * kLevel));
  const auto across = stem_frame(stem.axis);
  for (const Vec3d& point : points) {
    const Vec3d d = point - stem.base;
    const double axial = dot(d, stem.axis);
    if (!(axial >= 0) || !(axial < kHighest)) continue;
    const auto level = std::min(count - 1, static_cast<std::size_t>(axial / kLevel));
    const Core& core = cores[level];
    const double outside =
        std::hypot(dot(d, across[0]) - core.center.x, dot(d, across[1]) - core.center.y) - core.radius;
    if (outside <= kReach) off[level].push_back(outside);
  }
  Levels out;
  for (std::size_t i = 0; i < count; ++i) {
    out.room.push_back(std::max(kRoom, kRoomPart * cores[i].radius));
    if (off[i].size() < kFewestPoints) {
      out.outside.push_back(std::nan(""));
      continue;
    }
    const auto at =
        off[i].begin() + static_cast<std::ptrdiff_t>(kShare * static_cast<double>(off[i].size() - 1));
    std::nth_element(off[i].begin(), at, off[i].end());
    out.outside.push_back(*at);
  }
  return out;
}

/// Share of 36 sectors with points of a level that lie at least half as far outside as its ribs reach.
double sectors_of_ribs(Span<const Vec3d> points, const Stem& stem, const std::vector<StemSection>& sections,
                       std::size_t level, double reach_m) {
  const Core core = core_at(sections, (static_cast<double>(level) + 0.5) * kLevel);
  const auto across = stem_frame(stem.axis);
  std::vector<Vec2d> ribs;
  for (const Vec3d& point : points) {
    const Vec3d d = point - stem.base;
    if (!(std::floor(dot(d, stem.axis) / kLevel) == static_cast<double>(level))) continue;
    const Vec2d at{dot(d, across[0]), dot(d, across[1])};
    const double outside = std::hypot(at.x - core.center.x, at.y - core.center.y) - core.radius;
    if (outside >= reach_m / 2 && outside <= kReach) ribs.push_back(at);
  }
  return arc_of({ribs.data(), ribs.size()}, core.center).coverage;
}

/// The level where the stem becomes round for good, if what is below falls towards it.
std::optional<std::size_t> top_of(const Levels& levels) {
  std::vector<double> ribs;
  std::size_t round = 0;
  for (std::size_t i = 0; i < levels.outside.size(); ++i) {
    const double outside = levels.outside[i];
    if (std::isnan(outside)) continue;
    if (levels.is_round(i)) {
      if (++round == kRoundLevels) {
        const bool falls = !ribs.empty() && ribs.back() <= kFall * ribs.front() &&
                           ribs[ribs.size() / 2] <= kHalfwayFall * ribs.front();
        return falls ? std::optional(i + 1 - kRoundLevels) : std::nullopt;
      }
      continue;
    }
    if (round > 0 || (!ribs.empty() && outside > ribs.back() + kRise)) return std::nullopt;  // rises again
    ribs.push_back(outside);
  }
  return std::nullopt;
}

}  // namespace

std::optional<RibbedFoot> ribbed_foot(Span<const Vec3d> points, const Stem& stem, double breast_height_m) {
  std::vector<StemSection> sections;
  for (const StemSection& section : stem.curve)
    if (section.ok) sections.push_back(section);
  if (sections.size() < 2) return std::nullopt;
  const double breast = stem.breast_height ? stem.breast_height->axial_m : breast_height_m;
  const Levels levels = levels_of(points, stem, sections);
  const auto top = top_of(levels);
  const double top_m = top ? static_cast<double>(*top) * kLevel : 0;
  if (!(breast >= 0 && breast < top_m)) return std::nullopt;
  const auto level = static_cast<std::size_t>(breast / kLevel);
  if (!(levels.outside[level] > levels.room[level])) return std::nullopt;
  if (sectors_of_ribs(points, stem, sections, level, levels.outside[level]) > kMostRibSectors)
    return std::nullopt;
  RibbedFoot foot{levels.outside[level], top_m, std::nan(""), std::nan(""), std::nan("")};
  const auto above = std::find_if(sections.begin(), sections.end(), [&](const StemSection& section) {
    return section.axial_m >= foot.top_m + kAboveFoot && !section.partial_arc;
  });
  if (above == sections.end()) return foot;
  foot.axial_m = above->axial_m;
  foot.diameter_m = 2 * above->circle.radius;
  foot.sigma_m = 2 * above->circle.radius_sigma;
  return foot;
}

}  // namespace pc
