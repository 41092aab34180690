#include "ops/qsm/leaf_placement.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <unordered_set>

#include "ops/qsm/azimuth_frame.h"

namespace pc {

namespace {

constexpr std::size_t kPerPoll = 4096;
/// A node this share of a spacing behind the tip still counts: sums of lengths are rounded.
constexpr double kTipSlack = 1e-9;
/// Stands for every larger number of leaves.
constexpr double kMostLeaves = 1e15;

/// A piece of a shoot's axis.
struct Piece {
  Vec3d start, axis;  ///< axis is a unit vector
  double from, to;    ///< metres along the shoot
  double radius;
};

/// A shoot with leaves.
struct Stretch {
  std::size_t shoot;  ///< position of the shoot
  double start;       ///< metres along the shoot
  double nodes;
  double leaves_before;  ///< on the shoots before
};

class Shoots {
 public:
  explicit Shoots(const Qsm& qsm) : qsm_(qsm) {
    position_.reserve(qsm.cylinders.size());
    for (std::size_t i = 0; i < qsm.cylinders.size(); ++i) position_.emplace(qsm.cylinders[i].cyl_id, i);
    for (const QsmShoot& shoot : qsm.shoots)
      if (shoot.parent_cyl_id >= 0) carriers_.insert(shoot.parent_cyl_id);
  }

  /// The axis of a shoot without cylinders of no length.
  const std::vector<Piece>& pieces(std::size_t shoot) {
    pieces_.clear();
    double at = 0;
    leafless_ = 0;
    for (const std::int64_t id : qsm_.shoots[shoot].cylinder_ids) {
      const auto found = position_.find(id);
      if (found == position_.end()) continue;
      const QsmCylinder& cylinder = qsm_.cylinders[found->second];
      const double length = cylinder.length_m();
      if (length > 0 && std::isfinite(length)) {
        const Vec3d axis = (cylinder.end - cylinder.start) * (1 / length);
        pieces_.push_back({cylinder.start, axis, at, at + length, cylinder.radius});
        at += length;
      }
      if (carriers_.contains(id)) leafless_ = at;
    }
    return pieces_;
  }
  /// Metres from the base of the shoot of the last pieces() to the start of its leaves.
  double leafless() const { return leafless_; }

 private:
  const Qsm& qsm_;
  std::unordered_map<std::int64_t, std::size_t> position_;
  std::unordered_set<std::int64_t> carriers_;
  std::vector<Piece> pieces_;
  double leafless_ = 0;
};

std::vector<Stretch> stretches(Shoots& shoots, std::size_t count, const LeafPlacementParams& params,
                               LeafPlacementResult& out, OpContext& ctx) {
  std::vector<Stretch> found;
  for (std::size_t s = 0; s < count; ++s) {
    if (s % kPerPoll == 0) ctx.checkpoint();
    const auto& pieces = shoots.pieces(s);
    if (pieces.empty() || !(pieces.back().to > shoots.leafless())) continue;
    const double length = pieces.back().to - shoots.leafless();
    const double nodes = std::min(kMostLeaves, std::floor(length / params.leaf_spacing_m + kTipSlack) + 1);
    found.push_back({s, shoots.leafless(), nodes, out.wanted_count});
    out.wanted_count += nodes * params.leaves_per_node;
    out.leafy_length_m += length;
  }
  out.shoot_count = found.size();
  return found;
}

Leaf leaf_at(const Piece& piece, double along, double azimuth, double pitch) {
  const AzimuthFrame frame = azimuth_frame(piece.axis);
  const Vec3d radial = frame.u * std::cos(azimuth) + frame.v * std::sin(azimuth);
  const Vec3d tip = radial * std::sin(pitch) + piece.axis * std::cos(pitch);
  const Vec3d width = cross(piece.axis, radial);
  constexpr double kOutsideBark = 1.5;
  const Vec3d node = piece.start + piece.axis * (along - piece.from);
  return {node + radial * (kOutsideBark * piece.radius), tip, width, cross(tip, width)};
}

void check(const LeafPlacementParams& params) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  require(positive(params.leaf_spacing_m), "leaf_spacing must be finite and positive");
  require(positive(params.leaf_size_m), "leaf_size_m must be finite and positive");
  require(std::isfinite(params.leaf_pitch_rad), "leaf_pitch_deg must be finite");
  require(std::isfinite(params.phyllotaxis_deg), "phyllotaxis_deg must be finite");
  require(params.leaves_per_node >= 1 && params.max_leaves >= 1, "leaves_per_node and max_leaves start at 1");
}

/// Places the leaves of one stretch whose numbers are picked.
class Placer {
 public:
  Placer(const LeafPlacementParams& params, double wanted) : params_(params), wanted_(wanted) {}

  void place(const Stretch& stretch, const std::vector<Piece>& pieces, std::vector<Leaf>& out,
             OpContext& ctx) {
    const double per_node = params_.leaves_per_node;
    const double end = stretch.leaves_before + stretch.nodes * per_node;
    for (std::size_t piece = 0; next_ < end && !done(); pick_next()) {
      if (++polled_ % kPerPoll == 0) ctx.checkpoint();
      const double local = next_ - stretch.leaves_before, node = std::floor(local / per_node);
      const double along = std::min(stretch.start + node * params_.leaf_spacing_m, pieces.back().to);
      while (piece + 1 < pieces.size() && along >= pieces[piece].to) ++piece;
      const double turn = std::fmod(node * params_.phyllotaxis_deg, 360.0);
      const double azimuth_deg = turn + 360 * (local - node * per_node) / per_node;
      out.push_back(
          leaf_at(pieces[piece], along, azimuth_deg * std::numbers::pi / 180, params_.leaf_pitch_rad));
    }
  }
  std::uint64_t count() const {
    return static_cast<std::uint64_t>(std::min(wanted_, static_cast<double>(params_.max_leaves)));
  }

 private:
  bool done() const { return picked_ >= count(); }
  void pick_next() {
    ++picked_;
    const auto most = static_cast<double>(params_.max_leaves);
    const double at = static_cast<double>(picked_);
    next_ = wanted_ <= most ? at : std::floor(at * (wanted_ / most));
  }

  const LeafPlacementParams& params_;
  double wanted_;
  std::uint64_t picked_ = 0;
  double next_ = 0;  ///< number of the next leaf among all that are wanted
  std::size_t polled_ = 0;
};

}  // namespace

LeafPlacementResult leaf_placement(const Qsm& qsm, const LeafPlacementParams& params, OpContext& ctx) {
  check(params);
  ctx.begin_phase("Placing leaves", 0);
  LeafPlacementResult out;
  Shoots shoots(qsm);
  const auto found = stretches(shoots, qsm.shoots.size(), params, out, ctx);
  Placer placer(params, out.wanted_count);
  out.leaves.reserve(static_cast<std::size_t>(placer.count()));
  for (const Stretch& stretch : found) placer.place(stretch, shoots.pieces(stretch.shoot), out.leaves, ctx);
  return out;
}

std::uint64_t leaf_placement_bytes(std::uint64_t cylinder_count, std::uint64_t max_leaves) {
  constexpr std::uint64_t kPerCylinder = 320;  // the model, positions by id, carriers, pieces
  return kPerCylinder * cylinder_count + sizeof(Leaf) * max_leaves;
}

}  // namespace pc
