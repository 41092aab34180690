#include "ops/mesh/pivot_front.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

constexpr std::size_t kSeedNeighbors = 10;  // nearest unused points of which a seed triangle is made
constexpr double kTouch = 1e-9;      // a point this share of the radius inside the ball still touches it
constexpr double kSameAngle = 1e-7;  // radians: the ball does not move; a full turn less this is the same
constexpr std::size_t kPollWork = 1'000'000;

/// The angles at which a rolling ball meets points, fast but rounded: tells which of them need not be looked at closely.
class Turn {
 public:
  /// start    from the middle of the edge to the centre of the ball, at right angles to the axis
  /// round    its squared length
  Turn(const Vec3d& start, const Vec3d& axis, double round, double radius)
      : path_(std::sqrt(round)),
        ahead_(start * (1 / path_)),
        side_(cross(axis, ahead_)),
        reach_(round - radius * radius) {}

  /// Whether the ball meets a point, given from the middle and its squared distance, surely after `least` or never. Its
  /// centre is where cos(angle - p) = near / q, with p and q the direction and distance of the point across the axis.
  bool is_beyond(const Vec3d& from_middle, double squared, double least) const {
    const double x = dot(from_middle, ahead_), y = dot(from_middle, side_), q = x * x + y * y;
    const double near = (squared + reach_) / (2 * path_), room = q - near * near;
    if (room < -kRounding * q) return true;
    const double half = room > 0 ? std::sqrt(room) : 0;
    const double cosine = (x * near + y * half) / q, sine = y * near - x * half;
    const double angle = sine >= 0 ? 1 - cosine : 3 + cosine;
    return angle > least + kRounding && angle < 4 - kRounding;
  }

 private:
  static constexpr double kRounding =
      1e-5;  // 100 times the root of the rounding of `room`, where the ball just touches
  double path_;
  Vec3d ahead_, side_;
  double reach_;
};

}  // namespace

PivotFront::PivotFront(Span<const Vec3d> points, Span<const Vec3d> normals, bool sides_are_known,
                       OpContext& ctx)
    : points_(points),
      normals_(normals),
      sides_are_known_(sides_are_known),
      ctx_(ctx),
      first_edge_(points.size),
      open_count_(points.size),
      is_used_(points.size) {
  std::fill(first_edge_.begin(), first_edge_.end(), kNone);
}

void PivotFront::count_work(std::size_t tests) {
  work_ += tests + 16;
  if (work_ < kPollWork) return;
  work_ = 0;
  ctx_.checkpoint();
}

/// Centre of the ball that touches a, b and c from the side from which they run counter-clockwise; false if it is too small,
/// the three are on a line, or a normal points to the other side.
bool PivotFront::center_of(std::uint32_t a, std::uint32_t b, std::uint32_t c, Vec3d& center) const {
  const Vec3d u = points_[b] - points_[a], v = points_[c] - points_[a], n = cross(u, v);
  if (dot(n, normals_[a]) <= 0 || dot(n, normals_[b]) <= 0 || dot(n, normals_[c]) <= 0) return false;
  const double uu = dot(u, u), vv = dot(v, v), nn = dot(n, n);
  if (!(nn > 1e-16 * uu * vv)) return false;
  // From a to the centre of the circle through all three.
  const Vec3d flat = (cross(n, u) * vv + cross(v, n) * uu) * (0.5 / nn);
  const double height = radius_ * radius_ - dot(flat, flat);
  if (!(height >= 0)) return false;
  center = points_[a] + flat + n * std::sqrt(height / nn);
  return true;
}

bool PivotFront::is_empty(const Vec3d& center, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const double inside = radius_ * radius_ * (1 - kTouch) * (1 - kTouch);
  if (blocker_ != kNone && blocker_ != a && blocker_ != b && blocker_ != c &&
      squared_distance(center, points_[blocker_]) < inside && stops(center, blocker_))
    return false;
  bool empty = true;
  count_work(grid_->while_within(center, radius_, [&](std::uint32_t row, double squared, const Vec3d&) {
    empty = squared >= inside || row == a || row == b || row == c || !stops(center, row);
    if (!empty) blocker_ = row;
    return empty;
  }));
  return empty;
}

std::uint32_t PivotFront::edge_between(std::uint32_t a, std::uint32_t b) const {
  std::uint32_t edge = first_edge_[std::min(a, b)];
  const std::uint32_t high = std::max(a, b);
  while (edge != kNone && std::max(edges_[edge].from, edges_[edge].to) != high) edge = edges_[edge].next;
  return edge;
}

/// Whether another triangle may run along the edge in this direction.
bool PivotFront::may_add(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t edge = edge_between(from, to);
  return edge == kNone || (edges_[edge].open && edges_[edge].from == to);
}

void PivotFront::add_edge(std::uint32_t from, std::uint32_t to, std::uint32_t opposite, const Vec3d& center) {
  const std::uint32_t known = edge_between(from, to);
  if (known != kNone) {
    edges_[known].open = false;
    --open_count_[from];
    --open_count_[to];
    return;
  }
  const std::uint32_t low = std::min(from, to);
  const auto edge = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({from, to, opposite, first_edge_[low], true, center});
  first_edge_[low] = edge;
  ++open_count_[from];
  ++open_count_[to];
  front_.push_back(edge);
}

void PivotFront::add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Vec3d& center) {
  const std::uint32_t corner[3] = {a, b, c};
  for (std::size_t i = 0; i < 3; ++i) {
    triangles_.push_back(corner[i]);
    is_used_[corner[i]] = 1;
    add_edge(corner[i], corner[(i + 1) % 3], corner[(i + 2) % 3], center);
  }
}

/// The first point that the ball meets when it rolls over the edge, away from its triangle. Angles are compared by a
/// function that rises with them, from 0 to 4 over a full turn.
bool PivotFront::pivot(const Edge& edge, std::uint32_t& row, Vec3d& center) {
  const Vec3d middle = (points_[edge.from] + points_[edge.to]) * 0.5;
  const Vec3d along = points_[edge.to] - points_[edge.from], start = edge.center - middle;
  const Vec3d away = points_[edge.opposite] - middle, axis = along * (1 / std::sqrt(dot(along, along)));
  const Vec3d side = away - axis * dot(away, axis);
  const double round = dot(start, start);  // squared radius of the circle on which the centre moves
  double least = HUGE_VAL;
  row = kNone;
  const Turn turn(start, axis, round, radius_);
  count_work(grid_->for_each_within(
      middle, 2 * radius_, [&](std::uint32_t other, double squared, const Vec3d& place) {
        if (other == edge.from || other == edge.to || other == edge.opposite) return;
        if (turn.is_beyond(place - middle, squared, least)) return;
        Vec3d found;
        if (!center_of(edge.to, edge.from, other, found)) return;
        const Vec3d now = found - middle;
        const double sine = dot(cross(start, now), axis), cosine = dot(start, now);
        double angle = sine >= 0 ? 1 - cosine / round : 3 + cosine / round;
        if (std::abs(sine) < kSameAngle * round &&
            cosine > 0) {  // all on one ball: the point must lie beyond the edge
          if (dot(points_[other] - middle, side) >= 0) return;
          angle = 0;
        }
        if (angle < least || (angle == least && other < row)) {
          least = angle;
          row = other;
          center = found;
        }
      }));
  return row != kNone;
}

void PivotFront::expand() {
  for (std::size_t next = 0; next < front_.size(); ++next) {
    const Edge edge = edges_[front_[next]];
    if (!edge.open) continue;
    std::uint32_t row = kNone;
    Vec3d center{0, 0, 0};
    if (!pivot(edge, row, center)) continue;
    if (is_used_[row] != 0 && open_count_[row] == 0) continue;
    if (!may_add(edge.from, row) || !may_add(row, edge.to)) continue;
    // A point whose normal points elsewhere does not stop the ball, but must not end up inside.
    if (!is_empty(center, edge.from, edge.to, row)) continue;
    add_triangle(edge.to, edge.from, row, center);
    ctx_.advance(1);
  }
  front_.clear();
}

/// Begins with a triangle at an unused point if a ball lies on it.
bool PivotFront::seed_at(std::uint32_t row) {
  Near near[kSeedNeighbors];  // ascending by distance, then row
  std::size_t count = 0;
  const auto is_nearer = [](const Near& a, const Near& b) {
    return a.squared < b.squared || (a.squared == b.squared && a.row < b.row);
  };
  count_work(grid_->for_each_within(points_[row], 2 * radius_,
                                    [&](std::uint32_t other, double squared, const Vec3d&) {
                                      const Near found{squared, other};
                                      if (other == row || is_used_[other] != 0) return;
                                      if (count == kSeedNeighbors && !is_nearer(found, near[count - 1]))
                                        return;
                                      std::size_t at = count < kSeedNeighbors ? count++ : count - 1;
                                      for (; at > 0 && is_nearer(found, near[at - 1]); --at)
                                        near[at] = near[at - 1];
                                      near[at] = found;
                                    }));
  for (std::size_t j = 1; j < count; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      std::uint32_t b = near[i].row, c = near[j].row;
      if (dot(cross(points_[b] - points_[row], points_[c] - points_[row]), normals_[row]) < 0)
        std::swap(b, c);
      Vec3d center;
      if (!center_of(row, b, c, center) || !is_empty(center, row, b, c)) continue;
      add_triangle(row, b, c, center);
      return true;
    }
  }
  return false;
}

void PivotFront::roll(double radius) {
  const PivotGrid grid(points_, 2 * radius, ctx_);
  grid_ = &grid;
  radius_ = radius;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    Edge& edge = edges_[i];
    if (!edge.open || !center_of(edge.from, edge.to, edge.opposite, edge.center)) continue;
    if (is_empty(edge.center, edge.from, edge.to, edge.opposite))
      front_.push_back(static_cast<std::uint32_t>(i));
  }
  expand();
  for (std::size_t row = 0; row < points_.size; ++row)
    if (is_used_[row] == 0 && seed_at(static_cast<std::uint32_t>(row))) expand();
  grid_ = nullptr;
}

}  // namespace pc
