#include "ops/mesh/poisson_loops.h"

#include <cmath>

namespace pc::poisson_detail {

namespace {

constexpr std::size_t kMostCut = 24;  // corners of a loop whose diagonals are tried
constexpr double kNever = HUGE_VAL;

double area_of(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d u = b - a, v = c - a;
  const Vec3d n{u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
  return std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
}

}  // namespace

void LeafLoops::triangulate(const Vec3d* vertices, std::uint32_t first_middle, std::vector<Vec3d>& middles,
                            std::vector<std::uint32_t>& triangles) {
  for (std::size_t first = 0; first < segments_.size(); ++first) {
    if (segments_[first].faces == 0) continue;  // in an earlier loop
    follow(first);
    if (loop_.size() >= 3) cut(vertices, first_middle, middles, triangles);
  }
}

/// Every vertex ends one segment of the leaf and begins another.
void LeafLoops::follow(std::size_t first) {
  loop_.clear();
  faces_.clear();
  std::uint32_t before = 0;
  for (std::size_t at = first; segments_[at].faces != 0;) {
    loop_.push_back(segments_[at].from);
    faces_.push_back(before | segments_[at].faces);
    before = segments_[at].faces;
    segments_[at].faces = 0;
    std::size_t next = 0;
    while (next < segments_.size() && segments_[next].from != segments_[at].to) ++next;
    if (next == segments_.size()) break;
    at = next;
  }
  faces_[0] |= before;
}

void LeafLoops::cut(const Vec3d* vertices, std::uint32_t first_middle, std::vector<Vec3d>& middles,
                    std::vector<std::uint32_t>& triangles) {
  const std::size_t n = loop_.size();
  if (n == 3) {
    triangles.insert(triangles.end(), loop_.begin(), loop_.end());
    return;
  }
  if (n <= kMostCut && cut_by_diagonals(vertices, triangles)) return;
  Vec3d sum{0, 0, 0};
  for (const std::uint32_t v : loop_) sum = sum + vertices[v];
  const auto middle = static_cast<std::uint32_t>(first_middle + middles.size());
  middles.push_back(sum * (1 / static_cast<double>(n)));
  for (std::size_t i = 0; i < n; ++i)
    triangles.insert(triangles.end(), {loop_[i], loop_[(i + 1) % n], middle});
}

/// The triangulation of least area whose diagonals lie within no face; false if there is none. Gilbert 1979, Klincsek 1980.
bool LeafLoops::cut_by_diagonals(const Vec3d* vertices, std::vector<std::uint32_t>& triangles) {
  const std::size_t n = loop_.size();
  least_.assign(n * n, kNever);
  through_.assign(n * n, 0);
  for (std::size_t i = 0; i + 1 < n; ++i) least_[i * n + i + 1] = 0;
  for (std::size_t span = 2; span < n; ++span) {
    for (std::size_t i = 0; i + span < n; ++i) {
      const std::size_t j = i + span;
      if (span < n - 1 && (faces_[i] & faces_[j]) != 0) continue;
      for (std::size_t k = i + 1; k < j; ++k) {
        if (least_[i * n + k] == kNever || least_[k * n + j] == kNever) continue;
        const double area = least_[i * n + k] + least_[k * n + j] +
                            area_of(vertices[loop_[i]], vertices[loop_[k]], vertices[loop_[j]]);
        if (area < least_[i * n + j]) {
          least_[i * n + j] = area;
          through_[i * n + j] = static_cast<std::uint8_t>(k);
        }
      }
    }
  }
  if (least_[n - 1] == kNever) return false;
  append(0, n - 1, triangles);
  return true;
}

void LeafLoops::append(std::size_t i, std::size_t j, std::vector<std::uint32_t>& triangles) const {
  if (j == i + 1) return;
  const std::size_t k = through_[i * loop_.size() + j];
  append(i, k, triangles);
  append(k, j, triangles);
  triangles.insert(triangles.end(), {loop_[i], loop_[k], loop_[j]});
}

}  // namespace pc::poisson_detail
