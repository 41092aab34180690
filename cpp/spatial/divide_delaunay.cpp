#include "spatial/divide_delaunay.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "spatial/upward_order.h"

namespace pc {

namespace {

constexpr std::int32_t kCoordinateEnd = 1 << 22;
constexpr std::size_t kPartPoints = 8192;  // 5 ms per part
constexpr std::uint32_t kPollSteps = 4096;

void check_range(const LatticePoint& p) {
  require(p.u >= 0 && p.v >= 0 && p.u < kCoordinateEnd && p.v < kCoordinateEnd,
          "lattice coordinates must be 0 to 2^22 - 1");
}
void check_range(const Vec2d& p) {
  require(in_exact_range(p.x) && in_exact_range(p.y), "coordinates must be finite and within 2^100 m");
}
bool comes_before(const LatticePoint& a, const LatticePoint& b) {
  return a.u < b.u || (a.u == b.u && a.v < b.v);
}
bool comes_before(const Vec2d& a, const Vec2d& b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }

}  // namespace

template <class Point>
DivideDelaunay<Point>::DivideDelaunay(Span<const Point> points, OpContext& ctx, DelaunayCuts cuts)
    : points_(points) {
  check(ctx);
  if (points.size < 2) return;
  order_.resize(points.size);
  edges_.resize(6 * points.size);  // a planar graph has fewer than 3 n edges, two directions each
  std::vector<std::size_t> bounds{0, points.size};
  while (points.size / (bounds.size() - 1) > kPartPoints) {
    std::vector<std::size_t> halved;
    for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
      halved.push_back(bounds[k]);
      halved.push_back(bounds[k] + (bounds[k + 1] - bounds[k]) / 2);
    }
    halved.push_back(points.size);
    bounds = std::move(halved);
  }
  std::vector<Part> parts(bounds.size() - 1);
  parallel_for(ctx, parts.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      parts[k] = triangulate_strip(bounds[k], bounds[k + 1], cuts, ctx);
  });
  while (parts.size() > 1) {
    parallel_for(ctx, parts.size() / 2, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        Part &left = parts[2 * k], &right = parts[2 * k + 1];
        Pool pool = left.pool.head == kNone ? right.pool : left.pool;
        if (left.pool.head != kNone && right.pool.head != kNone) {
          edges_[left.pool.tail].next = right.pool.head;
          pool.tail = right.pool.tail;
        }
        left.hull = merge(left.hull, right.hull, pool, ctx);
        left.pool = pool;
      }
    });
    for (std::size_t k = 0; k < parts.size() / 2; ++k) parts[k] = parts[2 * k];
    parts.resize(parts.size() / 2);
  }
  hull_edge_ = parts[0].hull.left;
  outer_ = outer_triangle();
  order_.reset();
}

template <class Point>
typename DivideDelaunay<Point>::Part DivideDelaunay<Point>::triangulate_strip(std::size_t begin,
                                                                              std::size_t end,
                                                                              DelaunayCuts cuts,
                                                                              const OpContext& ctx) {
  std::uint32_t* const order = order_.data();
  Part part{{}, fresh_pool(begin, end)};
  if (cuts == DelaunayCuts::kUpright) {
    for (std::size_t i = begin; i < end; ++i) order[i] = static_cast<std::uint32_t>(i);
    part.hull = triangulate(begin, end, part.pool, ctx);
    return part;
  }
  sort_upwards(points_, begin, end, order + begin);
  const Hull turned = triangulate(begin, end, part.pool, ctx);
  part.hull =
      hull_between(turned.left, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - 1));
  return part;
}

/// The hull that one of its edges, counter-clockwise, belongs to, seen from two of its points.
template <class Point>
typename DivideDelaunay<Point>::Hull DivideDelaunay<Point>::hull_between(std::uint32_t hull_edge,
                                                                         std::uint32_t first,
                                                                         std::uint32_t last) const {
  Hull hull{kNone, kNone};
  std::uint32_t e = hull_edge ^ 1;  // clockwise
  do {
    if (target(e) == first) hull.left = e ^ 1;
    if (origin(e) == last) hull.right = e;
    e = left_next(e);
  } while (e != (hull_edge ^ 1));
  if (hull.left == kNone || hull.right == kNone)
    throw Error(ErrorCode::kInternal, "an outermost point is not on the convex hull");
  return hull;
}

template <class Point>
BulkVector<std::uint32_t> DivideDelaunay<Point>::outline(const OpContext& ctx) const {
  BulkVector<std::uint32_t> points;
  if (hull_edge_ == kNone) return points;
  const std::uint32_t first =
      left_next(hull_edge_ ^ 1);  // the outer face is left of the edges against the hull's
  std::uint32_t e = first;
  do {
    if (points.size() % kPollSteps == 0) ctx.checkpoint();
    points.push_back(origin(e));
    e = left_next(e);
  } while (e != first);
  return points;
}

template <class Point>
void DivideDelaunay<Point>::check(OpContext& ctx) const {
  parallel_for(ctx, points_.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Point& p = points_[i];
      check_range(p);
      require(i == 0 || comes_before(points_[i - 1], p), "points must be distinct and in order");
    }
  });
}

template <class Point>
typename DivideDelaunay<Point>::Pool DivideDelaunay<Point>::fresh_pool(std::size_t begin, std::size_t end) {
  const auto first = static_cast<std::uint32_t>(6 * begin), last = static_cast<std::uint32_t>(6 * end - 2);
  for (std::uint32_t e = first; e <= last; e += 2) {
    edges_[e] = {e == last ? kNone : e + 2, kNone, kNone};
    edges_[e + 1] = {kNone, kNone, kNone};
  }
  return {first, last};
}

template <class Point>
std::uint32_t DivideDelaunay<Point>::make_edge(std::uint32_t from, std::uint32_t to, Pool& pool) {
  const std::uint32_t e = pool.head;
  if (e == kNone)
    throw Error(ErrorCode::kInternal, "a triangulation with more edges than a planar graph has");
  pool.head = edges_[e].next;
  if (pool.head == kNone) pool.tail = kNone;
  edges_[e] = {e, e, from};
  edges_[e + 1] = {e + 1, e + 1, to};
  return e;
}

template <class Point>
void DivideDelaunay<Point>::insert_after(std::uint32_t at, std::uint32_t edge) {
  const std::uint32_t behind = edges_[at].next;
  edges_[edge].next = behind;
  edges_[edge].previous = at;
  edges_[behind].previous = edge;
  edges_[at].next = edge;
}

/// Adds an edge from the target of a to the origin of b, such that all three have the same left face.
template <class Point>
std::uint32_t DivideDelaunay<Point>::connect(std::uint32_t a, std::uint32_t b, Pool& pool) {
  const std::uint32_t e = make_edge(target(a), origin(b), pool);
  insert_after(left_next(a), e);
  insert_after(b, e ^ 1);
  return e;
}

template <class Point>
void DivideDelaunay<Point>::remove(std::uint32_t edge, Pool& pool) {
  for (const std::uint32_t e : {edge, edge ^ 1}) {
    edges_[edges_[e].previous].next = edges_[e].next;
    edges_[edges_[e].next].previous = edges_[e].previous;
    edges_[e].origin = kNone;
  }
  const std::uint32_t pair = edge & ~std::uint32_t{1};
  edges_[pair].next = pool.head;
  if (pool.head == kNone) pool.tail = pair;
  pool.head = pair;
}

template <class Point>
typename DivideDelaunay<Point>::Hull DivideDelaunay<Point>::smallest(std::size_t begin, std::size_t end,
                                                                     Pool& pool) {
  const std::uint32_t* const point = order_.data() + begin;
  const std::uint32_t a = make_edge(point[0], point[1], pool);
  if (end - begin == 2) return {a, a ^ 1};
  const std::uint32_t b = make_edge(point[1], point[2], pool);
  insert_after(a ^ 1, b);
  const int turn = orient_sign(points_[point[0]], points_[point[1]], points_[point[2]]);
  if (turn > 0) {
    connect(b, a, pool);
    return {a, b ^ 1};
  }
  if (turn < 0) {
    const std::uint32_t c = connect(b, a, pool);
    return {c ^ 1, c};
  }
  return {a, b ^ 1};
}

template <class Point>
typename DivideDelaunay<Point>::Hull DivideDelaunay<Point>::triangulate(std::size_t begin, std::size_t end,
                                                                        Pool& pool, const OpContext& ctx) {
  if (end - begin <= 3) return smallest(begin, end, pool);
  const std::size_t middle = begin + (end - begin) / 2;
  const Hull left = triangulate(begin, middle, pool, ctx);
  const Hull right = triangulate(middle, end, pool, ctx);
  return merge(left, right, pool, ctx);
}

template <class Point>
std::uint32_t DivideDelaunay<Point>::lower_tangent(Hull& left, Hull& right, Pool& pool) {
  std::uint32_t l = left.right, r = right.left;
  for (;;) {
    if (is_left(from(r), l)) {
      l = left_next(l);
    } else if (is_right(from(l), r)) {
      r = edges_[r ^ 1].next;
    } else {
      break;
    }
  }
  const std::uint32_t base = connect(r ^ 1, l, pool);
  if (origin(l) == origin(left.left)) left.left = base ^ 1;
  if (origin(r) == origin(right.right)) right.right = base;
  return base;
}

template <class Point>
std::uint32_t DivideDelaunay<Point>::left_candidate(std::uint32_t base, Pool& pool) {
  std::uint32_t e = edges_[base ^ 1].next;
  if (!is_right(to(e), base)) return kNone;
  while (circle_sign(to(base), from(base), to(e), to(edges_[e].next)) > 0) {
    const std::uint32_t behind = edges_[e].next;
    remove(e, pool);
    e = behind;
  }
  return e;
}

template <class Point>
std::uint32_t DivideDelaunay<Point>::right_candidate(std::uint32_t base, Pool& pool) {
  std::uint32_t e = edges_[base].previous;
  if (!is_right(to(e), base)) return kNone;
  while (circle_sign(to(base), from(base), to(e), to(edges_[e].previous)) > 0) {
    const std::uint32_t behind = edges_[e].previous;
    remove(e, pool);
    e = behind;
  }
  return e;
}

template <class Point>
typename DivideDelaunay<Point>::Hull DivideDelaunay<Point>::merge(Hull left, Hull right, Pool& pool,
                                                                  const OpContext& ctx) {
  std::uint32_t base = lower_tangent(left, right, pool);
  for (std::uint32_t step = 1;; ++step) {
    if (step % kPollSteps == 0) ctx.checkpoint();
    const std::uint32_t l = left_candidate(base, pool), r = right_candidate(base, pool);
    if (l == kNone && r == kNone) return {left.left, right.right};
    const bool take_right = l == kNone || (r != kNone && circle_sign(to(l), from(l), from(r), to(r)) > 0);
    base = take_right ? connect(r, base ^ 1, pool) : connect(base ^ 1, l ^ 1, pool);
  }
}

template <class Point>
std::uint32_t DivideDelaunay<Point>::outer_triangle() const {
  const std::uint32_t a = hull_edge_ ^ 1, b = left_next(a), c = left_next(b);
  return left_next(c) == a ? std::min({a, b, c}) : kNone;
}

/// The sides of the face left of an edge, if it is a triangle.
template <class Point>
bool DivideDelaunay<Point>::sides_of(std::uint32_t edge, std::array<std::uint32_t, 3>& sides) const {
  sides[0] = edge;
  sides[1] = left_next(edge);
  sides[2] = left_next(sides[1]);
  return left_next(sides[2]) == edge && orient_sign(from(sides[0]), from(sides[1]), from(sides[2])) > 0;
}

/// Sides from the one in the lowest slot on, which stands for the triangle.
template <class Point>
bool DivideDelaunay<Point>::first_side(std::size_t slot, std::array<std::uint32_t, 3>& sides) const {
  const auto edge = static_cast<std::uint32_t>(slot);
  if (origin(edge) == kNone) return false;
  const std::uint32_t second = left_next(edge);
  return second > edge && left_next(second) > edge && sides_of(edge, sides);
}

/// A face of three sides is a triangle, except for the outer one.
template <class Point>
bool DivideDelaunay<Point>::corners(std::size_t slot, std::array<std::uint32_t, 3>& out) const {
  const auto a = static_cast<std::uint32_t>(slot);
  if (origin(a) == kNone) return false;
  const std::uint32_t b = left_next(a);
  if (b <= a) return false;
  const std::uint32_t c = left_next(b);
  if (c <= a || left_next(c) != a || a == outer_) return false;
  out = {origin(a), origin(b), origin(c)};
  return true;
}

template <class Point>
bool DivideDelaunay<Point>::triangle(std::size_t slot, DelaunayTriangle& out) const {
  std::array<std::uint32_t, 3> sides{}, other{};
  if (!first_side(slot, sides)) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    out.corner[i] = origin(sides[i]);
    out.on_hull[i] = !sides_of(sides[i] ^ 1, other);
  }
  return true;
}

template class DivideDelaunay<LatticePoint>;
template class DivideDelaunay<Vec2d>;

}  // namespace pc
