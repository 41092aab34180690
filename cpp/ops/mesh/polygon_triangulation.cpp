#include "ops/mesh/polygon_triangulation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kFaceGrain = 2048;
constexpr int kMaxSweeps = 32;  // bounds the time for a polygon that crosses itself everywhere

constexpr double kTurn = 6.283185307179586;

bool same(double ax, double ay, double bx, double by) { return ax == bx && ay == by; }

}  // namespace

/// Projects the ring along the largest part of its area vector. False if the polygon has no area: less than the rounding
/// of its coordinates can make.
bool PolygonCutter::flatten(Span<const Vec3d> ring) {
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  Vec3d area{0, 0, 0};
  double perimeter = 0, largest = 0;
  for (std::size_t i = 0; i < ring.size; ++i) {
    const Vec3d a = ring[i] - ring[0], b = ring[i + 1 == ring.size ? 0 : i + 1] - ring[0];
    area = area + Vec3d{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    perimeter += std::sqrt(squared_distance(a, b));
    for (const double c : {ring[i].x, ring[i].y, ring[i].z}) largest = std::max(largest, std::fabs(c));
  }
  const double x = std::fabs(area.x), y = std::fabs(area.y), z = std::fabs(area.z);
  if (!(std::max({x, y, z}) > kRounding * largest * perimeter)) return false;
  flat_.resize(ring.size);
  for (std::size_t i = 0; i < ring.size; ++i) {
    const Vec3d p = ring[i] - ring[0];
    const Point q = x >= y && x >= z ? Point{p.y, p.z} : y >= z ? Point{p.z, p.x} : Point{p.x, p.y};
    const double sign = x >= y && x >= z ? area.x : y >= z ? area.y : area.z;
    flat_[i] = sign > 0 ? q : Point{q.y, q.x};
  }
  return true;
}

/// Twice the area of a triangle, positive if it turns left.
double PolygonCutter::turn(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  const Point &p = flat_[a], &q = flat_[b], &r = flat_[c];
  return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
}

/// Whether every corner turns left and every triangle from the first corner does: then the ring winds once.
bool PolygonCutter::is_convex() const {
  const auto n = static_cast<std::uint32_t>(flat_.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    if (turn(i, (i + 1) % n, (i + 2) % n) < 0) return false;
  }
  for (std::uint32_t i = 1; i + 1 < n; ++i) {
    if (!(turn(0, i, i + 1) > 0)) return false;
  }
  return true;
}

/// Whether the ring turns round once: one that turns more often, or not at all, crosses itself. True where it runs back
/// along itself, which has no direction.
bool PolygonCutter::turns_once() const {
  double angle = 0;
  Point before{0, 0};
  const auto n = flat_.size();
  for (std::size_t i = 0; i <= 2 * n; ++i) {
    const Point &p = flat_[i % n], &q = flat_[(i + 1) % n];
    const Point edge{q.x - p.x, q.y - p.y};
    if (edge.x == 0 && edge.y == 0) continue;
    const double cross = before.x * edge.y - before.y * edge.x, along = before.x * edge.x + before.y * edge.y;
    if (i > n) angle += std::atan2(cross, along);  // once round, from an edge whose predecessor is known
    if (i > n && cross == 0 && along < 0) return true;
    before = edge;
  }
  return std::fabs(angle - kTurn) < kTurn / 4;
}

/// Whether corner `p` lies in the triangle a b c, or touches one of its corners and continues inside.
bool PolygonCutter::blocks(std::uint32_t p, std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  const std::uint32_t corners[3] = {a, b, c};
  for (int k = 0; k < 3; ++k) {
    const std::uint32_t here = corners[k], after = corners[(k + 1) % 3], before = corners[(k + 2) % 3];
    if (!same(flat_[p].x, flat_[p].y, flat_[here].x, flat_[here].y)) continue;
    for (const std::uint32_t q : {next_[p], previous_[p]}) {
      if (turn(here, after, q) > 0 && turn(before, here, q) > 0) return true;
    }
    return false;
  }
  return turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0;
}

bool PolygonCutter::is_ear(std::uint32_t corner, OpContext& ctx) const {
  const std::uint32_t a = previous_[corner], c = next_[corner];
  if (!(turn(a, corner, c) > 0)) return false;
  ctx.checkpoint();
  for (std::uint32_t p = next_[c]; p != a; p = next_[p]) {
    if (is_reflex_[p] && blocks(p, a, corner, c)) return false;
  }
  return true;
}

void PolygonCutter::link(std::size_t n) {
  for (auto* indices : {&next_, &previous_, &waiting_}) indices->resize(n);
  is_waiting_.assign(n, 1);
  is_reflex_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    next_[i] = static_cast<std::uint32_t>(i + 1 == n ? 0 : i + 1);
    previous_[i] = static_cast<std::uint32_t>(i == 0 ? n - 1 : i - 1);
  }
  for (std::uint32_t i = 0; i < n; ++i) is_reflex_[i] = !(turn(previous_[i], i, next_[i]) > 0);
  left_ = n;
  cut_ = 0;
  cut_area_ = 0;
}

/// Cuts the triangle of a corner off.
void PolygonCutter::clip(std::uint32_t corner, Span<std::uint32_t> out) {
  const std::uint32_t a = previous_[corner], c = next_[corner];
  cut_area_ += turn(a, corner, c);
  out[cut_++] = a;
  out[cut_++] = corner;
  out[cut_++] = c;
  next_[a] = c;
  previous_[c] = a;
  --left_;
  for (const std::uint32_t i : {a, c}) {
    is_waiting_[i] = 1;
    is_reflex_[i] = !(turn(previous_[i], i, next_[i]) > 0);
  }
}

/// Cuts a corner off, and then the corners next to it that run out and back, which enclose nothing. Returns a corner that
/// is left.
std::uint32_t PolygonCutter::clip_with_spikes(std::uint32_t corner, Span<std::uint32_t> out) {
  const auto is_spike = [&](std::uint32_t i) {
    const Point &p = flat_[previous_[i]], &q = flat_[next_[i]];
    return same(p.x, p.y, q.x, q.y);
  };
  clip(corner, out);
  std::uint32_t live = next_[corner];
  while (left_ > 3 && (is_spike(live) || is_spike(previous_[live]))) {
    const std::uint32_t spike = is_spike(live) ? live : previous_[live];
    clip(spike, out);
    live = next_[spike];
  }
  return live;
}

/// True if every triangle is an ear or has no area.
bool PolygonCutter::clip_ears(Span<std::uint32_t> out, OpContext& ctx) {
  bool clean = true;
  std::uint32_t at = 0;
  std::size_t idle = 0;  // corners passed since the last cut
  int sweeps = 0;
  while (left_ > 3) {
    if (is_waiting_[at]) {
      is_waiting_[at] = 0;
      if (is_ear(at, ctx)) {
        at = next_[clip_with_spikes(at, out)];  // every other corner: rounder triangles
        idle = 0;
        continue;
      }
    }
    at = next_[at];
    if (++idle <= left_) continue;
    idle = 0;
    if (sweeps++ < kMaxSweeps) {
      std::uint32_t flat = at;
      std::size_t seen = 0;
      while (seen < left_ && turn(previous_[flat], flat, next_[flat]) != 0) {
        is_waiting_[flat] = 1;
        flat = next_[flat];
        ++seen;
      }
      if (seen == left_ && sweeps % 2 == 1) continue;  // all corners once more
      if (seen < left_) {
        at = clip_with_spikes(flat, out);
        --sweeps;
        continue;
      }
    }
    clean = false;
    at = clip_with_spikes(at, out);
  }
  const double last = turn(previous_[at], at, next_[at]);
  clip(at, out);
  return clean && last >= -1e-9 * cut_area_;  // one that turns the other way lies over the others
}

PolygonShape PolygonCutter::cut(Span<const Vec3d> ring, Span<std::uint32_t> out, OpContext& ctx) {
  const auto n = static_cast<std::uint32_t>(ring.size);
  const auto fan = [&] {
    for (std::uint32_t i = 1; i + 1 < n; ++i) {
      out[3 * (i - 1)] = 0;
      out[3 * (i - 1) + 1] = i;
      out[3 * (i - 1) + 2] = i + 1;
    }
  };
  if (n == 3) {
    fan();
    return PolygonShape::kPlain;
  }
  if (!flatten(ring)) {
    fan();
    return PolygonShape::kFlat;
  }
  if (is_convex()) {
    fan();
    return PolygonShape::kPlain;
  }
  link(n);
  const bool clean = clip_ears(out, ctx);
  return clean && turns_once() ? PolygonShape::kPlain : PolygonShape::kCrossing;
}

namespace {

class FaceCutter {
 public:
  explicit FaceCutter(const PolygonMesh& mesh) : mesh_(mesh) {}

  /// Number of triangles of a face.
  std::size_t count(std::size_t face) const {
    const std::size_t first = mesh_.face_first[face], n = mesh_.face_first[face + 1] - first;
    std::size_t usable_pairs = 0, usable_corners = 0;
    for (std::size_t i = 0; i < n; ++i) usable_corners += usable(first + i) ? 1 : 0;
    if (usable_corners == n) return n - 2;
    if (!usable(first)) return 0;
    for (std::size_t i = 1; i + 1 < n; ++i)
      usable_pairs += usable(first + i) && usable(first + i + 1) ? 1 : 0;
    return usable_pairs;
  }

  /// Writes that many triangles from `at` on.
  void cut(std::size_t face, std::size_t triangles, std::size_t at, PolygonCutter& cutter,
           std::vector<Vec3d>& ring, std::vector<std::uint32_t>& cuts, Triangulation& out, OpContext& ctx) {
    const std::size_t first = mesh_.face_first[face], n = mesh_.face_first[face + 1] - first;
    std::fill(out.faces.begin() + at, out.faces.begin() + at + triangles, static_cast<std::uint32_t>(face));
    std::uint32_t* to = out.corners.data() + 3 * at;
    if (triangles != n - 2) {
      for (std::size_t i = 1; triangles != 0 && i + 1 < n; ++i) {
        if (!usable(first + i) || !usable(first + i + 1)) continue;
        for (const std::size_t k : {std::size_t{0}, i, i + 1}) *to++ = static_cast<std::uint32_t>(first + k);
      }
      return;
    }
    ring.resize(n);
    cuts.resize(3 * triangles);
    for (std::size_t i = 0; i < n; ++i) ring[i] = mesh_.positions[mesh_.corner_position[first + i]];
    const PolygonShape shape = cutter.cut({ring.data(), n}, {cuts.data(), cuts.size()}, ctx);
    for (const std::uint32_t corner : cuts) *to++ = static_cast<std::uint32_t>(first + corner);
    if (shape == PolygonShape::kFlat) ++flat_;
    if (shape == PolygonShape::kCrossing) ++crossing_;
  }

  std::uint64_t flat() const { return flat_; }
  std::uint64_t crossing() const { return crossing_; }

 private:
  bool usable(std::size_t corner) const {
    const std::uint32_t vertex = mesh_.corner_position[corner];
    return vertex != kNoIndex && is_finite(mesh_.positions[vertex]);
  }

  const PolygonMesh& mesh_;
  std::atomic<std::uint64_t> flat_{0}, crossing_{0};
};

}  // namespace

Triangulation triangulate(const PolygonMesh& mesh, OpContext& ctx) {
  const std::size_t faces = mesh.face_count(), blocks = (faces + kFaceGrain - 1) / kFaceGrain;
  if (mesh.corner_position.size() >= kNoIndex) {
    throw Error(ErrorCode::kUnsupported, "the faces have more corners than 32-bit indices can count");
  }
  FaceCutter cutter(mesh);
  std::vector<std::uint64_t> before(blocks + 1, 0);
  BulkVector<std::uint32_t> counts(faces);
  ctx.begin_phase("Counting triangles", faces);
  parallel_for(ctx, faces, kFaceGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    for (std::size_t f = begin; f < end; ++f) {
      counts[f] = static_cast<std::uint32_t>(cutter.count(f));
      sum += counts[f];
    }
    before[begin / kFaceGrain + 1] = sum;
  });
  for (std::size_t i = 0; i < blocks; ++i) before[i + 1] += before[i];
  const std::uint64_t total = before[blocks];
  if (3 * total >= kNoIndex) {
    throw Error(ErrorCode::kUnsupported,
                "the mesh has " + std::to_string(total) + " triangles, more than 32-bit indices can count");
  }
  Triangulation out;
  out.corners.resize(3 * total);
  out.faces.resize(total);
  struct Worker {
    PolygonCutter cutter;
    std::vector<Vec3d> ring;
    std::vector<std::uint32_t> cuts;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Triangulating faces", faces);
  parallel_for_worker(ctx, faces, kFaceGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Worker& own = workers[static_cast<std::size_t>(worker)];
    std::uint64_t at = before[begin / kFaceGrain];
    for (std::size_t f = begin; f < end; ++f) {
      cutter.cut(f, counts[f], at, own.cutter, own.ring, own.cuts, out, ctx);
      at += counts[f];
    }
  });
  out.skipped_count = mesh.corner_position.size() - 2 * faces - total;
  out.flat_face_count = cutter.flat();
  out.crossing_face_count = cutter.crossing();
  return out;
}

}  // namespace pc
