#include "ops/qsm/leaf_angle_assignment.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/parallel.h"
#include "core/random.h"
#include "ops/qsm/linear_assignment.h"

namespace pc {

namespace {

constexpr std::size_t kPerPoll = 65536;
constexpr double kTurn = 2 * std::numbers::pi;
/// Smaller shapes count as this one, which gives all but surely 0 or 90 degrees: the logs of two variates stay finite.
constexpr double kLeastShape = 1e-300;

/// Random numbers of one draw: a stream of its own.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t number) : seed_(random_u64(seed, number)) {}
  /// In (0, 1).
  double unit() { return random_unit(seed_, next_++) + 0x1.0p-54; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(kTurn * unit());
  }
  /// Log of a gamma variate: small shapes give values below the range of double.
  double log_gamma_variate(double shape) {
    if (shape < 1) {
      const double boost = std::log(unit()) / shape;
      return log_gamma_variate(shape + 1) + boost;
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      if (std::log(unit()) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d) + std::log(v);
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

/// Streams of a cell: draws count up from 0, the choice of leaves has one that no draw reaches.
constexpr std::uint64_t kChoiceStream = ~std::uint64_t{0} - 1;

Vec3d draw_normal(const LeafAngleTarget& target, Stream& random) {
  const double x = random.log_gamma_variate(std::max(kLeastShape, target.beta_nu));
  const double y = random.log_gamma_variate(std::max(kLeastShape, target.beta_mu));
  const double inclination = std::numbers::pi / 2 / (1 + std::exp(y - x));
  const double t = kTurn * random.unit(), b = std::sqrt(1 - target.ecc * target.ecc);
  const double phi0_deg = std::fmod(target.phi0_deg, 360);  // in radians, 1e308 degrees would overflow
  const double bearing = std::atan2(b * std::sin(t), std::cos(t)) + phi0_deg * std::numbers::pi / 180;
  const double across = std::sin(inclination);
  return {across * std::sin(bearing), across * std::cos(bearing), std::cos(inclination)};
}

Vec3d upward(const Vec3d& normal) { return normal.z < 0 ? normal * -1 : normal; }

Vec3d unit(const Vec3d& v) { return v * (1 / std::sqrt(dot(v, v))); }

/// A unit vector perpendicular to a unit vector.
Vec3d perpendicular(const Vec3d& v) {
  const Vec3d other = std::abs(v.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  return unit(cross(v, other));
}

/// The rotation that takes one unit vector to another along the shortest way (Rodrigues' formula).
class Rotation {
 public:
  Rotation(const Vec3d& from, const Vec3d& to) : axis_(cross(from, to)), cosine_(dot(from, to)) {
    constexpr double kOpposite = 1e-12;
    half_turn_ = 1 + cosine_ < kOpposite;
    if (half_turn_) axis_ = perpendicular(from);
  }
  Vec3d operator()(const Vec3d& v) const {
    if (half_turn_) return axis_ * (2 * dot(axis_, v)) - v;
    return v * cosine_ + cross(axis_, v) + axis_ * (dot(axis_, v) / (1 + cosine_));
  }

 private:
  Vec3d axis_;
  double cosine_;
  bool half_turn_;
};

void turn(Leaf& leaf, const Vec3d& to) {
  const bool below = leaf.normal.z < 0;
  const Rotation rotation(upward(leaf.normal), to);
  leaf.normal = below ? to * -1 : to;
  const Vec3d tip = rotation(leaf.tip);
  leaf.tip = unit(tip - leaf.normal * dot(tip, leaf.normal));
  leaf.width = cross(leaf.normal, leaf.tip);
}

/// The leaves of a cell: members[first, last) of the list sorted by cell.
struct CellLeaves {
  const LeafAngleTarget* target;
  std::size_t first, last;
};

using Members = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // cell, leaf

Members members_of(const std::vector<Leaf>& leaves, const VoxelBox& grid, OpContext& ctx) {
  const VoxelCells cells(grid);
  Members out;
  out.reserve(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (i % kPerPoll == 0) ctx.checkpoint();
    if (const auto cell = cells.cell_of(leaves[i].base))
      out.emplace_back(*cell, static_cast<std::uint32_t>(i));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Cells with leaves and a target, those with the most leaves first: they take longest.
std::vector<CellLeaves> cells_to_turn(const Members& members, const std::vector<LeafAngleTarget>& targets) {
  std::vector<CellLeaves> out;
  for (const LeafAngleTarget& target : targets) {
    const auto begin = std::lower_bound(members.begin(), members.end(), std::pair{target.cell, 0u});
    auto end = begin;
    while (end != members.end() && end->first == target.cell) ++end;
    if (begin != end)
      out.push_back({&target, static_cast<std::size_t>(begin - members.begin()),
                     static_cast<std::size_t>(end - members.begin())});
  }
  std::stable_sort(out.begin(), out.end(), [](const CellLeaves& a, const CellLeaves& b) {
    return a.last - a.first > b.last - b.first;
  });
  return out;
}

/// Leaves of a cell that are turned: all, or a random subset in the order of the list.
std::vector<std::uint32_t> chosen(const Members& members, const CellLeaves& cell,
                                  const LeafAngleParams& params) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = cell.first; i < cell.last; ++i) out.push_back(members[i].second);
  const std::size_t wanted = static_cast<std::size_t>(params.max_cell_leaves);
  if (wanted == 0 || out.size() <= wanted) return out;
  Stream random(params.seed + cell.target->cell, kChoiceStream);
  for (std::size_t i = 0; i < wanted; ++i) {  // the first steps of a Fisher-Yates shuffle
    const auto left = static_cast<double>(out.size() - i);
    const std::size_t pick = i + std::min(out.size() - i - 1, static_cast<std::size_t>(random.unit() * left));
    std::swap(out[i], out[pick]);
  }
  out.resize(wanted);
  std::sort(out.begin(), out.end());
  return out;
}

void turn_cell(std::vector<Leaf>& leaves, const std::vector<std::uint32_t>& which,
               const LeafAngleTarget& target, std::uint64_t seed, OpContext& ctx) {
  const std::size_t n = which.size();
  const std::vector<Vec3d> drawn = draw_leaf_normals(target, n, seed);
  std::vector<double> x(n), y(n), z(n);
  for (std::size_t j = 0; j < n; ++j) {
    x[j] = drawn[j].x;
    y[j] = drawn[j].y;
    z[j] = drawn[j].z;
  }
  const auto costs = [&](std::size_t row, double* out) {
    const Vec3d from = upward(leaves[which[row]].normal);
    for (std::size_t j = 0; j < n; ++j) {
      const double dx = x[j] - from.x, dy = y[j] - from.y, dz = z[j] - from.z;
      out[j] = std::sqrt(dx * dx + dy * dy + dz * dz);
    }
  };
  const std::vector<std::uint32_t> column = linear_assignment(n, costs, ctx);
  for (std::size_t i = 0; i < n; ++i) turn(leaves[which[i]], drawn[column[i]]);
}

void check(const std::vector<LeafAngleTarget>& targets) {
  std::vector<std::uint32_t> cells;
  for (const LeafAngleTarget& target : targets) {
    const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
    require(positive(target.beta_mu) && positive(target.beta_nu),
            "beta_mu and beta_nu must be finite and positive");
    require(target.ecc >= 0 && target.ecc < 1, "ecc must be at least 0 and below 1");
    require(std::isfinite(target.phi0_deg), "phi0_deg must be finite");
    cells.push_back(target.cell);
  }
  std::sort(cells.begin(), cells.end());
  require(std::adjacent_find(cells.begin(), cells.end()) == cells.end(), "two targets have the same cell_id");
}

}  // namespace

std::vector<Vec3d> draw_leaf_normals(const LeafAngleTarget& target, std::size_t count, std::uint64_t seed) {
  std::vector<Vec3d> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Stream random(seed + target.cell, i);
    out.push_back(draw_normal(target, random));
  }
  return out;
}

LeafAngleResult leaf_angle_assignment(std::vector<Leaf>& leaves, const std::vector<LeafAngleTarget>& targets,
                                      const VoxelBox& grid, const LeafAngleParams& params, OpContext& ctx) {
  check(targets);
  ctx.begin_phase("Binning leaves", 0);
  const Members members = members_of(leaves, grid, ctx);
  const std::vector<CellLeaves> cells = cells_to_turn(members, targets);
  LeafAngleResult out;
  out.cell_count = cells.size();
  std::uint64_t in_cells = 0;
  std::vector<std::uint64_t> turned(cells.size());
  for (const CellLeaves& cell : cells) in_cells += cell.last - cell.first;
  ctx.begin_phase("Turning leaves", cells.size());
  parallel_for(ctx, cells.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      const std::vector<std::uint32_t> which = chosen(members, cells[c], params);
      turn_cell(leaves, which, *cells[c].target, params.seed, ctx);
      turned[c] = which.size();
    }
  });
  for (const std::uint64_t count : turned) out.adjusted_count += count;
  out.untouched_count = leaves.size() - in_cells;
  out.capped_count = in_cells - out.adjusted_count;
  return out;
}

std::uint64_t leaf_angle_bytes(std::uint64_t leaf_count, std::uint64_t target_count) {
  // members, drawn normals and the lists of the assignment
  return leaf_count * (8 + 4 + 48 + 45) + target_count * (sizeof(LeafAngleTarget) + sizeof(CellLeaves));
}

}  // namespace pc
