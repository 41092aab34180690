#include "ops/lad/lost_hits_moving.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/position_hash.h"
#include "core/radix_sort.h"
#include "core/symmetric_eigen.h"
#include "ops/cloud/select_hits.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr double kSamples = 50'000;
constexpr double kTile = 2;                                   ///< metres
constexpr std::array<double, 4> kEdges{0.15, 0.3, 0.6, 1.2};  ///< metres
constexpr double kMargin = 0.1;                               ///< metres; the hits may lie in one plane
constexpr double kEnough = 0.7;
constexpr std::uint32_t kFewest = 12;
constexpr double kThick = 0.08;          ///< of the edge
constexpr double kNarrow = 0.1;          ///< of the edge: hits in a line
constexpr double kGrazing = 0.26;        ///< sine of the angle between beam and surface
constexpr double kUpright = 0.9;         ///< cosine between the normal and an axis
constexpr double kClear = 2.5;           ///< thicknesses; hits spread evenly between two faces reach 1.7
constexpr std::uint32_t kMostAmid = 64;  ///< hits
constexpr int kSectors = 8;
constexpr int kWidestGap = 3;  ///< sectors
constexpr int kMostSteps = 4000;

/// A beam: where it starts, its direction, and its length if it ends at a hit.
struct Beam {
  Vec3d origin, along;
  double range;  ///< 0 = miss
};

/// Calls visit(beam, place) for the rows that have a direction, in the frame after the shift.
template <class Visit>
void for_each_beam(Span<const BeamScan> parts, OpContext& ctx, const Visit& visit) {
  for (const BeamScan& part : parts) {
    require(is_finite(part.shift), "the shift of a scan must be finite");
    require(part.origins.size == 1 || part.origins.size == part.positions.size,
            "one beam origin, or one for each row, is needed");
    const HitMask mask = hit_mask(part.positions.size, part.is_miss, part.deleted, ctx);
    for (std::size_t i = 0; i < part.positions.size; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const Vec3d& from = part.origins[part.origins.size == 1 ? 0 : i];
      const Vec3d along = part.positions[i] - from;
      const double squared = dot(along, along);
      if (!(squared > 0) || !std::isfinite(squared)) continue;
      const double length = std::sqrt(squared);
      const bool miss = (mask.skip[i] & kSkipMiss) != 0;
      visit(Beam{from + part.shift, along * (1 / length), miss ? 0 : length}, part.positions[i] + part.shift);
    }
  }
}

std::uint64_t tile_of(const Vec3d& place) {
  return position_hash({std::floor(place.x / kTile), std::floor(place.y / kTile), 0});
}

/// The box that holds the hits.
struct Bounds {
  Vec3d low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};

  void add(const Vec3d& p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  /// The part of a ray inside with a margin, metres along it; without length if it passes by.
  std::array<double, 2> inside(const Beam& beam) const {
    const std::array<double, 3> from{beam.origin.x, beam.origin.y, beam.origin.z},
        along{beam.along.x, beam.along.y, beam.along.z},
        least{low.x - kMargin, low.y - kMargin, low.z - kMargin},
        greatest{high.x + kMargin, high.y + kMargin, high.z + kMargin};
    double enter = 0, leave = HUGE_VAL;
    for (std::size_t a = 0; a < 3; ++a) {
      if (along[a] == 0) {
        if (from[a] < least[a] || from[a] > greatest[a]) return {0, 0};
        continue;
      }
      const double one = (least[a] - from[a]) / along[a], other = (greatest[a] - from[a]) / along[a];
      enter = std::max(enter, std::min(one, other));
      leave = std::min(leave, std::max(one, other));
    }
    return {enter, leave};
  }
  bool reached_by(const Beam& beam) const {
    if (beam.range > 0) return true;
    const auto [enter, leave] = inside(beam);
    return enter < leave;
  }
};

/// The hits that are looked through, and the beams that are looked at.
struct Looked {
  BulkVector<Vec3d> hits;
  std::vector<Beam> beams;
  Bounds bounds;

  Looked(Span<const BeamScan> parts, OpContext& ctx) {
    std::uint64_t count = 0, reaching = 0;
    for_each_beam(parts, ctx, [&](const Beam& beam, const Vec3d& place) {
      if (beam.range == 0) return;
      ++count;
      bounds.add(place);
    });
    if (count == 0) return;
    std::map<std::uint64_t, std::uint64_t> tiles;  // by hash: hits, then 0 for those that are not taken
    const bool all = count <= kMostLookedThrough;
    for_each_beam(parts, ctx, [&](const Beam& beam, const Vec3d& place) {
      if (bounds.reached_by(beam)) ++reaching;
      if (!all && beam.range > 0) ++tiles[tile_of(place)];
    });
    if (!all) {
      count = 0;
      for (auto& [tile, of_tile] : tiles) {
        if (count + of_tile > kMostLookedThrough) of_tile = 0;
        count += of_tile;
      }
    }
    const double share = kSamples / static_cast<double>(reaching);
    const auto most = share < 1 ? static_cast<std::uint64_t>(share * 0x1p64) : ~std::uint64_t{0};
    hits = BulkVector<Vec3d>(count);
    std::size_t size = 0;
    for_each_beam(parts, ctx, [&](const Beam& beam, const Vec3d& place) {
      if (position_hash(place) <= most && bounds.reached_by(beam)) beams.push_back(beam);
      if (beam.range > 0 && (all || tiles[tile_of(place)] > 0)) hits[size++] = place;
    });
  }
};

/// Hits of a cube that lie in one plane.
struct Patch {
  std::uint64_t key;
  std::uint32_t begin, end;  ///< in the order of the cubes
  Vec3d middle, side, other, normal;
};

/// The hits in cubes of one edge.
class Patches {
 public:
  Patches(const Looked& looked, double edge, OpContext& ctx)
      : hits_(looked.hits.view()),
        bounds_(looked.bounds),
        corner_(looked.bounds.low - Vec3d{edge / 2, edge / 2, edge / 2}),
        edge_(edge) {
    BulkVector<std::uint64_t> keys(hits_.size);
    parallel_for(ctx, hits_.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) keys[i] = key_of(cube_of(hits_[i]));
    });
    order_ = radix_sort_order(keys.view(), 64, ctx);
    for (std::size_t begin = 0, seen = 0; begin < order_.size();) {
      std::size_t end = begin + 1;
      while (end < order_.size() && keys[order_[end]] == keys[order_[begin]]) ++end;
      if (const auto patch = patch_of(keys[order_[begin]], begin, end)) {
        patches_.push_back(*patch);
        hit_count_ += end - begin;
      }
      seen += end - begin;
      if (seen >= kGrain) {
        ctx.checkpoint();
        seen = 0;
      }
      begin = end;
    }
  }

  std::size_t hit_count() const { return hit_count_; }

  /// Whether a beam that ends at a hit does so amid the others of a surface.
  bool ends(const Beam& beam) const {
    const Vec3d place = beam.origin + beam.along * beam.range;
    const Patch* patch = find(key_of(cube_of(place)));
    return patch != nullptr && faces(*patch, beam) && is_amid(*patch, place);
  }

  /// Whether a miss goes through a surface, amid its hits.
  bool passes(const Beam& beam) const {
    auto [enter, leave] = bounds_.inside(beam);
    if (!(enter < leave)) return false;
    const std::array<double, 3> from{beam.origin.x, beam.origin.y, beam.origin.z},
        along{beam.along.x, beam.along.y, beam.along.z}, least{corner_.x, corner_.y, corner_.z};
    const Vec3d start = cube_of(beam.origin + beam.along * enter);
    std::array<double, 3> cube{start.x, start.y, start.z}, next{};
    for (std::size_t a = 0; a < 3; ++a)
      next[a] = along[a] == 0 ? HUGE_VAL
                              : (least[a] + edge_ * (cube[a] + (along[a] > 0 ? 1 : 0)) - from[a]) / along[a];
    for (int step = 0; step < kMostSteps && enter < leave; ++step) {
      const std::size_t a = next[0] <= next[1] && next[0] <= next[2] ? 0 : next[1] <= next[2] ? 1 : 2;
      const double until = next[a];
      const Patch* patch = find(key_of({cube[0], cube[1], cube[2]}));
      if (patch != nullptr && faces(*patch, beam)) {
        const double at = dot(patch->middle - beam.origin, patch->normal) / dot(beam.along, patch->normal);
        if (at >= enter && at <= until && is_amid(*patch, beam.origin + beam.along * at)) return true;
      }
      cube[a] += along[a] > 0 ? 1 : -1;
      next[a] += edge_ / std::abs(along[a]);
      enter = until;
    }
    return false;
  }

 private:
  Vec3d cube_of(const Vec3d& place) const {
    const Vec3d at = (place - corner_) * (1 / edge_);
    return {std::floor(at.x), std::floor(at.y), std::floor(at.z)};
  }
  static std::uint64_t key_of(const Vec3d& cube) { return position_hash(cube); }

  const Patch* find(std::uint64_t key) const {
    const auto at =
        std::lower_bound(patches_.begin(), patches_.end(), key,
                         [](const Patch& patch, std::uint64_t wanted) { return patch.key < wanted; });
    return at != patches_.end() && at->key == key ? &*at : nullptr;
  }

  std::optional<Patch> patch_of(std::uint64_t key, std::size_t begin, std::size_t end) const {
    const std::size_t count = end - begin;
    if (count < kFewest) return std::nullopt;
    Vec3d middle{0, 0, 0};
    for (std::size_t i = begin; i < end; ++i) middle = middle + (hits_[order_[i]] - corner_);
    middle = middle * (1 / static_cast<double>(count)) + corner_;
    Symmetric3 spread{};
    for (std::size_t i = begin; i < end; ++i) spread.add_square(hits_[order_[i]] - middle);
    const SymmetricEigen3 axes = symmetric_eigen(spread);
    const double unit = edge_ * edge_ * static_cast<double>(count);
    if (!(axes.value[0] <= kThick * kThick * unit && axes.value[1] >= kNarrow * kNarrow * unit))
      return std::nullopt;
    if (is_cut(middle, axes.vector[0], std::sqrt(std::max(0.0, axes.value[0]) / static_cast<double>(count))))
      return std::nullopt;
    return Patch{key,
                 static_cast<std::uint32_t>(begin),
                 static_cast<std::uint32_t>(end),
                 middle,
                 axes.vector[1],
                 axes.vector[2],
                 axes.vector[0]};
  }

  /// Whether a face of the cube cuts hits off along the normal: then they may only look like a plane, as where a box was cut out
  /// of a crown.
  bool is_cut(const Vec3d& middle, const Vec3d& normal, double thickness) const {
    const Vec3d at = middle - corner_;
    for (const auto& [place, part] : {std::array{at.x, normal.x}, {at.y, normal.y}, {at.z, normal.z}}) {
      if (std::abs(part) < kUpright) continue;
      const double above = place - edge_ * std::floor(place / edge_);
      if (std::min(above, edge_ - above) < kClear * thickness) return true;
    }
    return false;
  }

  static bool faces(const Patch& patch, const Beam& beam) {
    return std::abs(dot(beam.along, patch.normal)) >= kGrazing;
  }

  bool is_amid(const Patch& patch, const Vec3d& place) const {
    constexpr double kPi = 3.14159265358979323846;
    unsigned sectors = 0;
    const std::uint32_t stride = std::max(1U, (patch.end - patch.begin) / kMostAmid);
    for (std::uint32_t i = patch.begin; i < patch.end; i += stride) {
      const Vec3d away = hits_[order_[i]] - place;
      const double s = dot(away, patch.side), t = dot(away, patch.other);
      if (s == 0 && t == 0) continue;
      const int sector = static_cast<int>((std::atan2(t, s) + kPi) / (2 * kPi) * kSectors);
      sectors |= 1U << std::min(sector, kSectors - 1);
    }
    for (int first = 0; first < kSectors; ++first) {
      bool empty = true;
      for (int k = 0; k < kWidestGap; ++k) empty = empty && ((sectors >> ((first + k) % kSectors)) & 1U) == 0;
      if (empty) return false;
    }
    return true;
  }

  Span<const Vec3d> hits_;
  const Bounds& bounds_;
  Vec3d corner_;  ///< of a cube whose middle is the lowest corner of the bounds
  double edge_;
  BulkVector<std::uint32_t> order_;
  std::vector<Patch> patches_;  // by key
  std::size_t hit_count_ = 0;
};

}  // namespace

LostHits lost_hits_moving(Span<const BeamScan> parts, OpContext& ctx) {
  const Looked looked(parts, ctx);
  LostHits out;
  out.looked_at = looked.beams.size();
  if (looked.hits.size() == 0) return out;
  std::array<std::size_t, kEdges.size()> in_surfaces{};
  for (std::size_t e = 0; e < kEdges.size(); ++e)
    in_surfaces[e] = Patches(looked, kEdges[e], ctx).hit_count();
  const double enough =
      kEnough * static_cast<double>(*std::max_element(in_surfaces.begin(), in_surfaces.end()));
  std::size_t chosen = 0;
  while (static_cast<double>(in_surfaces[chosen]) < enough) ++chosen;
  const Patches best(looked, kEdges[chosen], ctx);
  std::atomic<std::uint64_t> ended{0}, passed{0};
  ctx.begin_phase("Looking for lost hits", looked.beams.size());
  parallel_for(ctx, looked.beams.size(), 64, [&](std::size_t begin, std::size_t end) {
    std::uint64_t ends = 0, passes = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Beam& beam = looked.beams[i];
      if (beam.range > 0)
        ends += best.ends(beam) ? 1 : 0;
      else
        passes += best.passes(beam) ? 1 : 0;
    }
    ended += ends;
    passed += passes;
  });
  out.lost = passed;
  out.between = passed + ended;
  return out;
}

}  // namespace pc
