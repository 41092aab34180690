#include "ops/trees/mirrored_trees.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>

#include "core/parallel.h"
#include "core/position_hash.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kSample = 600, kFewest = 100, kSearched = 200;
constexpr std::size_t kPollRows = 1 << 16;
constexpr int kMostWalls = 4;  // of a flat tree
constexpr double kWallShare = 0.2, kBin = 0.1;
constexpr std::size_t kFewestOfWall = 50;
constexpr double kFromWall = 30, kAlongWall = 45, kFromBase = 0.5;  // metres
constexpr double kDiameterPart = 0.1, kDiameterM = 0.01;
constexpr double kStemPart = 0.05, kStemDiameterM = 0.005, kStemM = 0.05;
constexpr std::size_t kStems = 3;
constexpr double kAboveGround = 0.5;
constexpr double kReach = 0.05, kStep = 0.02, kMoved = 0.3;
constexpr int kSteps = 3, kTurns = 2;
constexpr double kTurn = 0.25 * std::numbers::pi / 180;
constexpr double kLead = 0.12, kRatio = 1.5, kKnownLead = 0.08, kKnownRatio = 1.25;
constexpr double kSameTurn = 1.5 * std::numbers::pi / 180, kSameM = 0.3;
constexpr double kBehind = 0.3, kBaseReach = 3, kSameBase = 0.25;
constexpr std::size_t kSurePairs = 2;

/// An upright mirror: through `at`, with the normal from the originals to their images.
struct Pane {
  Vec2d at, normal;

  double behind(double x, double y) const { return (x - at.x) * normal.x + (y - at.y) * normal.y; }
  Vec3d image(const Vec3d& p) const {
    const double twice = 2 * behind(p.x, p.y);
    return {p.x - twice * normal.x, p.y - twice * normal.y, p.z};
  }
  Pane moved(double by, double turn) const {
    const double c = std::cos(turn), s = std::sin(turn);
    return {{at.x + by * normal.x, at.y + by * normal.y},
            {c * normal.x - s * normal.y, s * normal.x + c * normal.y}};
  }
};

Pane pane_between(const Vec3d& original, const Vec3d& image) {
  const double x = image.x - original.x, y = image.y - original.y, away = std::hypot(x, y);
  return {{(original.x + image.x) / 2, (original.y + image.y) / 2}, {x / away, y / away}};
}

/// 1: the same mirror, -1: the same with its sides exchanged, 0: another.
int same_pane(const Pane& a, const Pane& b) {
  const double along = a.normal.x * b.normal.x + a.normal.y * b.normal.y;
  if (std::abs(along) < std::cos(kSameTurn)) return 0;
  if (std::abs(a.behind(b.at.x, b.at.y)) > kSameM || std::abs(b.behind(a.at.x, a.at.y)) > kSameM) return 0;
  return along > 0 ? 1 : -1;
}

/// What is kept of a tree.
struct Outline {
  std::vector<Vec3d> sample;
  std::uint64_t point_count = 0;  ///< so high above the ground that they take part
};

Outline outline_of(const std::vector<Vec3d>& points, double ground_z, const OpContext& ctx) {
  using Ranked = std::pair<std::uint64_t, Vec3d>;
  const auto is_before = [](const Ranked& a, const Ranked& b) {
    return std::tie(a.first, a.second.x, a.second.y, a.second.z) <
           std::tie(b.first, b.second.x, b.second.y, b.second.z);
  };
  Outline out;
  std::vector<Ranked> chosen;  // a heap
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % kPollRows == 0) ctx.checkpoint();
    if (!(points[i].z > ground_z + kAboveGround)) continue;
    ++out.point_count;
    const Ranked own{position_hash(points[i]), points[i]};
    if (chosen.size() == kSample) {
      if (!is_before(own, chosen.front())) continue;
      std::pop_heap(chosen.begin(), chosen.end(), is_before);
      chosen.pop_back();
    }
    chosen.push_back(own);
    std::push_heap(chosen.begin(), chosen.end(), is_before);
  }
  std::sort_heap(chosen.begin(), chosen.end(), is_before);
  for (const Ranked& one : chosen) out.sample.push_back(one.second);
  return out;
}

/// The upright plane that holds most of some points, up to 100 m from the first of them, and their number.
std::pair<Pane, std::size_t> fullest_plane(const std::vector<Vec3d>& points) {
  constexpr std::size_t kBins = 2000;
  const Vec3d& origin = points.front();
  std::pair<Pane, std::size_t> best{{{origin.x, origin.y}, {1, 0}}, 0};
  std::vector<std::uint16_t> bins(kBins);
  for (int degree = 0; degree < 180; ++degree) {
    const double angle = degree * std::numbers::pi / 180;
    const Pane pane{{origin.x, origin.y}, {std::cos(angle), std::sin(angle)}};
    std::size_t first = kBins, last = 0;
    std::fill(bins.begin(), bins.end(), std::uint16_t{0});
    for (const Vec3d& p : points) {
      const double bin = pane.behind(p.x, p.y) / kBin + kBins / 2;
      if (!(bin >= 0 && bin < kBins)) continue;
      const auto at = static_cast<std::size_t>(bin);
      ++bins[at];
      first = std::min(first, at);
      last = std::max(last, at);
    }
    for (std::size_t at = first; at <= last; ++at) {
      const std::size_t both = bins[at] + std::size_t{at < last ? bins[at + 1] : std::uint16_t{0}};
      const double middle = kBin * (static_cast<double>(at + 1) - kBins / 2);
      if (both > best.second) best = {pane.moved(middle, 0), both};
    }
  }
  return best;
}

/// The upright plane through the points within kBin of another one, by least squares.
Pane through_points(const std::vector<Vec3d>& points, const Pane& near) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (const Vec3d& p : points) {
    if (std::abs(near.behind(p.x, p.y)) > kBin) continue;
    const double dx = p.x - near.at.x, dy = p.y - near.at.y;
    n += 1, x += dx, y += dy, xx += dx * dx, xy += dx * dy, yy += dy * dy;
  }
  if (n == 0) return near;
  x /= n, y /= n;
  const double across =
      0.5 * std::atan2(2 * (xy / n - x * y), xx / n - x * x - (yy / n - y * y)) + std::numbers::pi / 2;
  return {{near.at.x + x, near.at.y + y}, {std::cos(across), std::sin(across)}};
}

/// The upright planes of a flat tree, through the middle of their points.
std::vector<Pane> walls_of(std::vector<Vec3d> points) {
  std::vector<Pane> out;
  const auto share = static_cast<std::size_t>(std::lround(kWallShare * static_cast<double>(points.size())));
  const std::size_t fewest = std::max(kFewestOfWall, share);
  for (int k = 0; k < kMostWalls && points.size() >= fewest; ++k) {
    const auto [rough, count] = fullest_plane(points);
    if (count < fewest) break;
    const Pane wall = through_points(points, through_points(points, rough));
    out.push_back(wall);
    std::erase_if(points, [&](const Vec3d& p) {
      return std::abs(wall.behind(p.x, p.y)) <= kSameM || std::abs(rough.behind(p.x, p.y)) <= kBin;
    });
  }
  return out;
}

/// A tree as the image of another.
struct Pair {
  std::size_t original, image;
  Pane pane;
  double matched = 0, chance = 0;
  bool fits_others = false;  ///< their stems are in each other's place, and those of two pairs more

  Pair exchanged() const {
    return {image, original, {pane.at, {-pane.normal.x, -pane.normal.y}}, matched, chance, fits_others};
  }
  double lead() const { return matched - chance; }
  bool is_image(double lead_of, double ratio) const { return lead() >= lead_of && matched >= ratio * chance; }
};

/// A mirror, and its pairs.
struct Mirror {
  Pane pane;  ///< of the pair that matches best
  std::vector<Pair> pairs;
  double surplus = 0;  ///< points of the originals less those of the images
};

class Images {
 public:
  Images(Span<const ShownTree> trees, const std::function<std::vector<Vec3d>(std::size_t)>& points_of,
         OpContext& ctx)
      : trees_(trees), points_of_(points_of), ctx_(ctx) {}

  std::vector<TreeImage> run() {
    const auto is_flat = [](const ShownTree& tree) { return tree.flat; };
    if (std::none_of(trees_.begin(), trees_.end(), is_flat)) return {};
    ctx_.begin_phase("Looking for mirrored trees", 0);
    outlines_.resize(trees_.size);
    const std::vector<Pane> walls = all_walls();
    const auto is_near = [&](const Vec3d& base) {
      return std::any_of(walls.begin(), walls.end(), [&](const Pane& wall) { return stands_at(base, wall); });
    };
    for (std::size_t i = 0; i < trees_.size; ++i) {
      ctx_.checkpoint();
      if (!trees_[i].flat && is_near(trees_[i].base)) look_at(i);
    }
    std::vector<Mirror> mirrors = mirrors_of(judged(pairs_at(walls), kSteps, kTurns));
    if (mirrors.empty()) return {};
    std::vector<Pair> sure;
    for (const Pair& pair : judged(pairs_behind(mirrors, sure), 1, 1))
      if (pair.is_image(kKnownLead, kKnownRatio)) mirrors.front().pairs.push_back(pair);
    mirrors.push_back({mirrors.front().pane, std::move(sure), 0});
    return images_of(mirrors);
  }

 private:
  void look_at(std::size_t i) { outlines_[i] = outline_of(points_of_(i), trees_[i].base.z, ctx_); }

  std::vector<Pane> all_walls() {
    std::vector<std::size_t> flat;
    for (std::size_t i = 0; i < trees_.size; ++i) {
      if (!trees_[i].flat) continue;
      flat.push_back(i);
      look_at(i);
    }
    std::vector<std::vector<Pane>> found(flat.size());
    parallel_for(ctx_, flat.size(), 1,
                 [&](std::size_t k, std::size_t) { found[k] = walls_of(outlines_[flat[k]].sample); });
    std::vector<Pane> out;
    for (const auto& own : found) out.insert(out.end(), own.begin(), own.end());
    return out;
  }

  static bool stands_at(const Vec3d& base, const Pane& wall) {
    return std::hypot(base.x - wall.at.x, base.y - wall.at.y) <= kAlongWall &&
           std::abs(wall.behind(base.x, base.y)) <= kFromWall;
  }

  bool may_show(std::size_t original, std::size_t image) const {
    const double of = trees_[original].diameter_m;
    return std::abs(of - trees_[image].diameter_m) <= kDiameterPart * of + kDiameterM &&
           !(trees_[original].bare && trees_[image].bare);
  }
  bool takes_part(std::size_t i) const { return !trees_[i].flat && outlines_[i].sample.size() >= kFewest; }

  /// Pairs of stems that one mirror shows as one another, however their points lie.
  void look_for_stems(std::vector<Pair>& pairs) const {
    for (const Pair& first : pairs) {
      ctx_.checkpoint();
      std::vector<Pair*> fitting;
      std::set<std::size_t> originals;
      for (Pair& pair : pairs) {
        const ShownTree &original = trees_[pair.original], &image = trees_[pair.image];
        const Vec3d at = first.pane.image(image.base);
        if (std::hypot(at.x - original.base.x, at.y - original.base.y) > kStemM ||
            std::abs(original.diameter_m - image.diameter_m) >
                kStemPart * original.diameter_m + kStemDiameterM)
          continue;
        fitting.push_back(&pair);
        originals.insert(std::min(pair.original, pair.image));
      }
      if (originals.size() < kStems) continue;
      for (Pair* pair : fitting) pair->fits_others = true;
    }
  }

  /// The pairs that walls may show, either way round.
  std::vector<Pair> pairs_at(const std::vector<Pane>& walls) const {
    const auto cell = [](double value) {
      return static_cast<std::int64_t>(std::floor(std::clamp(value / kFromBase, -1e15, 1e15)));
    };
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> cells;
    std::vector<std::size_t> queue;
    for (std::size_t i = 0; i < trees_.size; ++i) {
      if (!takes_part(i) || !std::isfinite(trees_[i].diameter_m)) continue;
      queue.push_back(i);
      cells[{cell(trees_[i].base.x), cell(trees_[i].base.y)}].push_back(i);
    }
    std::set<std::pair<std::size_t, std::size_t>> found;
    for (const Pane& wall : walls) {
      ctx_.checkpoint();
      for (const std::size_t a : queue) {
        const Vec3d& base = trees_[a].base;
        if (!stands_at(base, wall)) continue;
        const Vec3d at = wall.image(base);
        for (std::int64_t i = cell(at.x) - 1; i <= cell(at.x) + 1; ++i)
          for (std::int64_t j = cell(at.y) - 1; j <= cell(at.y) + 1; ++j) {
            const auto held = cells.find({i, j});
            if (held == cells.end()) continue;
            for (const std::size_t b : held->second) {
              const Vec3d& other = trees_[b].base;
              if (a != b && std::hypot(other.x - at.x, other.y - at.y) <= kFromBase && may_show(a, b) &&
                  same_pane(pane_between(base, other), wall) != 0)
                found.emplace(a, b);
            }
          }
      }
    }
    std::vector<Pair> out;
    for (const auto& [a, b] : found) out.push_back({a, b, pane_between(trees_[a].base, trees_[b].base)});
    look_for_stems(out);
    return out;
  }

  /// Pairs that mirrors may show; those whose stems are in each other's place are `sure`.
  std::vector<Pair> pairs_behind(const std::vector<Mirror>& mirrors, std::vector<Pair>& sure) const {
    std::vector<Pair> out;
    for (const Mirror& mirror : mirrors) {
      std::vector<char> known(trees_.size, 0);
      for (const Pair& pair : mirror.pairs) known[pair.image] = known[pair.original] = 1;
      for (std::size_t b = 0; b < trees_.size; ++b) {
        ctx_.checkpoint();
        const Vec3d& behind = trees_[b].base;
        if (known[b] != 0 || !takes_part(b) || !stands_at(behind, mirror.pane) ||
            mirror.pane.behind(behind.x, behind.y) < kBehind)
          continue;
        const Vec3d at = mirror.pane.image(behind);
        for (std::size_t a = 0; a < trees_.size; ++a) {
          const Vec3d& base = trees_[a].base;
          if (trees_[a].flat || mirror.pane.behind(base.x, base.y) >= 0) continue;
          const double away = std::hypot(base.x - at.x, base.y - at.y);
          if (mirror.pairs.size() >= kSurePairs && away < kSameBase && may_show(a, b))
            sure.push_back({a, b, mirror.pane});
          else if (away < kBaseReach)
            out.push_back({a, b, mirror.pane});
        }
      }
    }
    return out;
  }

  /// The pairs with their match, each in the pane that shows most.
  std::vector<Pair> judged(std::vector<Pair> pairs, int steps, int turns) {
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return std::tie(a.original, a.image) < std::tie(b.original, b.image);
    });
    for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
      while (end < pairs.size() && pairs[end].original == pairs[begin].original) ++end;
      ctx_.checkpoint();
      const std::vector<Vec3d> points = points_of_(pairs[begin].original);
      const KdTree tree({points.data(), points.size()}, ctx_);
      parallel_for(ctx_, end - begin, 1,
                   [&](std::size_t k, std::size_t) { judge(pairs[begin + k], tree.view(), steps, turns); });
    }
    return pairs;
  }

  void judge(Pair& pair, const KdTreeView& original, int steps, int turns) const {
    const auto& sample = outlines_[pair.image].sample;
    const auto share = [&](std::size_t count, const auto& place) {
      std::size_t matched = 0;
      for (std::size_t k = 0; k < count; ++k)
        matched += original.count_within(place(sample[k]), kReach * kReach, 1) > 0;
      return static_cast<double>(matched) / static_cast<double>(count);
    };
    Pane best = pair.pane;
    double most = -1;
    for (int step = -steps; step <= steps; ++step) {
      for (int turn = -turns; turn <= turns; ++turn) {
        const Pane pane = pair.pane.moved(kStep * step, kTurn * turn);
        const double own =
            share(std::min(kSearched, sample.size()), [&](const Vec3d& p) { return pane.image(p); });
        if (own > most) std::tie(most, best) = std::make_pair(own, pane);
      }
    }
    pair.pane = best;
    pair.matched = share(sample.size(), [&](const Vec3d& p) { return best.image(p); });
    const Vec3d& base = trees_[pair.original].base;
    for (int sixth = 1; sixth < 6; ++sixth) {
      const double c = std::cos(sixth * std::numbers::pi / 3), s = std::sin(sixth * std::numbers::pi / 3);
      pair.chance = std::max(pair.chance, share(sample.size(), [&](const Vec3d& p) {
                               const Vec3d q = best.image(p) - base;
                               return Vec3d{c * q.x - s * q.y, s * q.x + c * q.y, q.z} + base;
                             }));
    }
    for (const Vec3d& by : {Vec3d{kMoved, 0, 0}, Vec3d{-kMoved, 0, 0}, Vec3d{0, kMoved, 0},
                            Vec3d{0, -kMoved, 0}, Vec3d{0, 0, kMoved}, Vec3d{0, 0, -kMoved}})
      pair.chance =
          std::max(pair.chance, share(sample.size(), [&](const Vec3d& p) { return best.image(p) + by; }));
  }

  /// The mirrors that pairs show, those that match best first.
  std::vector<Mirror> mirrors_of(std::vector<Pair> pairs) const {
    std::erase_if(pairs, [](const Pair& pair) { return !pair.fits_others && !pair.is_image(kLead, kRatio); });
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.lead() > b.lead(); });
    std::vector<Mirror> out;
    for (const Pair& pair : pairs) {
      int sides = 1;
      auto same = std::find_if(out.begin(), out.end(), [&](const Mirror& mirror) {
        sides = same_pane(mirror.pane, pair.pane);
        return sides != 0;
      });
      if (same == out.end()) {
        sides = 1;
        same = out.insert(same, {pair.pane, {}, 0});
      }
      const Pair turned = sides > 0 ? pair : pair.exchanged();
      const auto is_same = [&](const Pair& other) {
        return other.original == turned.original && other.image == turned.image;
      };
      if (std::any_of(same->pairs.begin(), same->pairs.end(), is_same)) continue;
      same->pairs.push_back(turned);
      same->surplus += static_cast<double>(outlines_[turned.original].point_count) -
                       static_cast<double>(outlines_[turned.image].point_count);
    }
    for (Mirror& mirror : out) {
      if (mirror.surplus >= 0) continue;
      for (Pair& pair : mirror.pairs) pair = pair.exchanged();
      mirror.pane = mirror.pairs.front().pane;
    }
    return out;
  }

  static std::vector<TreeImage> images_of(const std::vector<Mirror>& mirrors) {
    std::map<std::size_t, Pair> best;
    for (const Mirror& mirror : mirrors)
      for (const Pair& pair : mirror.pairs) {
        const auto [at, is_new] = best.emplace(pair.image, pair);
        if (!is_new && pair.lead() > at->second.lead()) at->second = pair;
      }
    std::vector<TreeImage> out;
    for (const auto& [image, pair] : best) {
      // Mirrors that face each other show images of images.
      std::size_t original = pair.original;
      for (std::size_t step = 0; step < best.size() && best.contains(original); ++step)
        original = best.at(original).original;
      if (!best.contains(original)) out.push_back({image, original});
    }
    return out;
  }

  Span<const ShownTree> trees_;
  const std::function<std::vector<Vec3d>(std::size_t)>& points_of_;
  OpContext& ctx_;
  std::vector<Outline> outlines_;
};

}  // namespace

std::vector<TreeImage> mirrored_trees(Span<const ShownTree> trees,
                                      const std::function<std::vector<Vec3d>(std::size_t)>& points_of,
                                      OpContext& ctx) {
  return Images(trees, points_of, ctx).run();
}

void drop_mirrored_trees(std::vector<MeasuredTree>& trees,
                         const std::function<std::vector<Vec3d>(std::size_t)>& points_of, OpContext& ctx) {
  std::vector<ShownTree> shown;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const MeasuredTree& tree = trees[i];
    if (tree.too_few_points) continue;
    const auto& at = tree.stem.breast_height;
    const Vec3d& base = tree.stem.base;
    shown.push_back({at ? Vec3d{at->center.x, at->center.y, base.z} : base,
                     at ? 2 * at->circle.radius : std::nan(""), tree.flat, tree.no_crown});
    of.push_back(i);
  }
  const auto images = mirrored_trees(
      {shown.data(), shown.size()}, [&](std::size_t i) { return points_of(of[i]); }, ctx);
  for (const TreeImage& found : images) {
    MeasuredTree& tree = trees[of[found.image]];
    tree.image_of = trees[of[found.original]].id;
    forget_stem(tree);
  }
}

}  // namespace pc
