#include "ops/mesh/poisson_solver.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"

namespace pc::poisson_detail {

namespace {

constexpr std::uint32_t kFirstSolved = 2;
constexpr std::size_t kGrain = 512;
constexpr std::size_t kSamplePoll = 8192;
constexpr int kMostIterations = 60;
constexpr double kResidual = 1e-3;  // of the first residual of the level; at the first level 1e-8

struct Vec3f {
  float x, y, z;
  friend Vec3f operator+(const Vec3f& a, const Vec3f& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vec3f operator*(const Vec3f& a, double s) {
    const auto f = static_cast<float>(s);
    return {a.x * f, a.y * f, a.z * f};
  }
};

/// Integrals over the unit cell: of grad(i) . grad(j), and of d(i)/d(axis) j, for the trilinear functions of corners i, j.
struct Element {
  double stiffness[8][8];
  double slope[3][8][8];
  Element() {
    const auto bit = [](std::size_t corner, std::size_t axis) { return corner >> axis & 1U; };
    const auto mass = [&](std::size_t i, std::size_t j, std::size_t axis) {
      return bit(i, axis) == bit(j, axis) ? 1.0 / 3 : 1.0 / 6;
    };
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 8; ++j) {
        stiffness[i][j] = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const double others = mass(i, j, (axis + 1) % 3) * mass(i, j, (axis + 2) % 3);
          stiffness[i][j] += (bit(i, axis) == bit(j, axis) ? 1 : -1) * others;
          slope[axis][i][j] = (bit(i, axis) == 1 ? 0.5 : -0.5) * others;
        }
      }
    }
  }
};

/// The trilinear functions of the corners at a position in the cell.
std::array<double, 8> corner_weights(const Vec3d& t) {
  std::array<double, 8> w{};
  const double x[2] = {1 - t.x, t.x}, y[2] = {1 - t.y, t.y}, z[2] = {1 - t.z, t.z};
  for (std::size_t c = 0; c < 8; ++c) w[c] = x[c & 1] * y[c >> 1 & 1] * z[c >> 2];
  return w;
}

Vec3d position(const Level& level, std::size_t cell, const Vec3d& place) {
  const CellPlace p = morton_decode(level.key[cell]);
  const double cells = std::ldexp(1.0, static_cast<int>(level.depth));
  return {place.x * cells - p.x, place.y * cells - p.y, place.z * cells - p.z};
}

/// Solves one level after the other.
class Cascade {
 public:
  Cascade(std::vector<Level>& levels, const Samples& samples, double point_weight, OpContext& ctx)
      : levels_(levels), samples_(samples), point_weight_(point_weight), ctx_(ctx) {}

  void run() {
    const auto first = std::min<std::uint32_t>(kFirstSolved, static_cast<std::uint32_t>(levels_.size()) - 1);
    own_.resize(levels_.size());
    finer_.resize(levels_.size());
    for (auto d = static_cast<std::uint32_t>(levels_.size()); d-- > first;) {
      own_[d] = spread_normals(levels_[d], d == first);
      if (d > first) restrict_to_parents(d);
    }
    for (std::uint32_t d = first; d < levels_.size(); ++d) {
      Level& level = levels_[d];
      if (d > first) prolong(level, levels_[d - 1], own_[d - 1], own_[d]);
      if (d > first) own_[d - 1].reset();
      assemble(level, own_[d]);
      correct(level, d == first ? 1e-8 : kResidual);
    }
  }

 private:
  template <class Visit>
  void for_samples_around(const Level& level, std::size_t vertex, const Visit& visit) {
    for (std::uint32_t c = 0; c < 8; ++c) {
      const std::uint32_t cell = level.incident[8 * vertex + c];
      if (cell == kNone) continue;
      for (std::uint32_t s = level.first[cell]; s < level.last[cell]; ++s) {
        if ((s - level.first[cell]) % kSamplePoll == kSamplePoll - 1) ctx_.checkpoint();
        visit(s, cell, c);
      }
    }
  }

  /// The normals of the samples that belong to this level, spread over its vertices. `first`: and of those above it.
  BulkVector<Vec3f> spread_normals(const Level& level, bool first) {
    BulkVector<Vec3f> raw(level.vertex_count()), smooth(level.vertex_count());
    const double density = std::ldexp(1.0, 3 * static_cast<int>(level.depth));
    const auto depth = static_cast<float>(level.depth);
    parallel_for(ctx_, level.vertex_count(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        Vec3d sum{0, 0, 0};
        for_samples_around(level, v, [&](std::uint32_t s, std::uint32_t cell, std::uint32_t c) {
          const float below = depth - samples_.splat_depth[s];
          const float share = first && below > 0 ? 1 : 1 - std::abs(below);
          if (share <= 0) return;
          const double weight = corner_weights(position(level, cell, samples_.place[s]))[c] * density;
          sum = sum + samples_.area_normal[s] * (weight * share);
        });
        raw[v] = {static_cast<float>(sum.x), static_cast<float>(sum.y), static_cast<float>(sum.z)};
      }
    });
    parallel_for(ctx_, level.vertex_count(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) smooth[v] = smoothed(level, raw, v);
    });
    return smooth;
  }

  /// Mean of a vertex and its neighbours with the weights 1/4, 1/2, 1/4 along each axis. What a sample has
  /// spread over its cell reaches the cells around it, all of which exist: nothing is lost at the border of the level.
  static Vec3f smoothed(const Level& level, const BulkVector<Vec3f>& raw, std::size_t v) {
    constexpr double kWeight[3] = {0.25, 0.5, 0.25};
    Vec3f out{0, 0, 0};
    bool seen[27] = {};
    for (std::uint32_t c = 0; c < 8; ++c) {
      const std::uint32_t cell = level.incident[8 * v + c];
      if (cell == kNone) continue;
      for (std::uint32_t j = 0; j < 8; ++j) {
        const std::size_t at = slot(c, j);
        if (seen[at]) continue;
        seen[at] = true;
        const double weight = kWeight[at % 3] * kWeight[at / 3 % 3] * kWeight[at / 9];
        out = out + raw[level.corner[8 * std::size_t{cell} + j]] * weight;
      }
    }
    return out;
  }

  /// Integral of the field times the slope of each corner's function over one cell of width h.
  std::array<double, 8> right_side(const Level& level, const BulkVector<Vec3f>& field, std::size_t cell,
                                   double h) const {
    std::array<double, 8> right{};
    for (std::size_t j = 0; j < 8; ++j) {
      const Vec3f& f = field[level.corner[8 * cell + j]];
      for (std::size_t c = 0; c < 8; ++c)
        right[c] +=
            h * h *
            (element_.slope[0][c][j] * f.x + element_.slope[1][c][j] * f.y + element_.slope[2][c][j] * f.z);
    }
    return right;
  }

  /// What the fields of this level and of finer ones contribute to the functions of the level above.
  void restrict_to_parents(std::uint32_t d) {
    const Level& level = levels_[d];
    const double h = std::ldexp(1.0, -static_cast<int>(d));
    finer_[d - 1].resize(level.parent.size());
    parallel_for(ctx_, level.parent.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t block = begin; block < end; ++block) {
        std::array<double, 8> sum{};
        for (std::uint32_t o = 0; o < 8; ++o) {
          const std::array<double, 8> right = with_finer(level, own_[d], 8 * block + o, h);
          for (std::uint32_t c = 0; c < 8; ++c) {
            const Vec3d at{0.5 * ((o & 1) + (c & 1)), 0.5 * ((o >> 1 & 1) + (c >> 1 & 1)),
                           0.5 * ((o >> 2) + (c >> 2))};
            const std::array<double, 8> w = corner_weights(at);
            for (std::size_t p = 0; p < 8; ++p) sum[p] += w[p] * right[c];
          }
        }
        for (std::size_t p = 0; p < 8; ++p) finer_[d - 1][block][p] = static_cast<float>(sum[p]);
      }
    });
  }

  std::array<double, 8> with_finer(const Level& level, const BulkVector<Vec3f>& field, std::size_t cell,
                                   double h) const {
    std::array<double, 8> right = right_side(level, field, cell, h);
    if (level.child[cell] != kNone)
      for (std::size_t c = 0; c < 8; ++c) right[c] += finer_[level.depth][level.child[cell]][c];
    return right;
  }

  /// Values and field of the level above, at the vertices of this one; the field is added to that of this level.
  void prolong(Level& level, const Level& above, const BulkVector<Vec3f>& field_above,
               BulkVector<Vec3f>& field) {
    parallel_for(ctx_, level.vertex_count(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        level.value[v] =
            interpolate<double>(level, above, v, [&](std::uint32_t i) { return above.value[i]; });
        field[v] =
            field[v] + interpolate<Vec3f>(level, above, v, [&](std::uint32_t i) { return field_above[i]; });
      }
    });
  }

  /// Rows of the free vertices: neighbours, coefficients and the residual of the present values.
  void assemble(const Level& level, const BulkVector<Vec3f>& field) {
    free_.clear();
    for (std::size_t v = 0; v < level.vertex_count(); ++v) {
      if (v % 1'048'576 == 0) ctx_.checkpoint();
      if (level.is_free[v] != 0) free_.push_back(static_cast<std::uint32_t>(v));
    }
    neighbor_.resize(27 * free_.size());
    row_.resize(27 * free_.size());
    residual_.resize(free_.size());
    const double h = std::ldexp(1.0, -static_cast<int>(level.depth));
    parallel_for(ctx_, free_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) assemble_row(level, field, i, h);
    });
  }

  void assemble_row(const Level& level, const BulkVector<Vec3f>& field, std::size_t i, double h) {
    const std::size_t v = free_[i];
    const double cells = std::ldexp(1.0, static_cast<int>(level.depth));
    std::uint32_t* const neighbor = neighbor_.data() + 27 * i;
    std::fill(neighbor, neighbor + 27, static_cast<std::uint32_t>(v));
    std::array<double, 27> row{};
    double right = 0;
    for (std::uint32_t c = 0; c < 8; ++c) {
      const std::uint32_t cell = level.incident[8 * v + c];
      if (cell == kNone) continue;
      right += with_finer(level, field, cell, h)[c];
      for (std::uint32_t j = 0; j < 8; ++j) {
        const std::size_t at = slot(c, j);
        neighbor[at] = level.corner[8 * std::size_t{cell} + j];
        row[at] += h * element_.stiffness[c][j];
      }
    }
    for_samples_around(level, v, [&](std::uint32_t s, std::uint32_t cell, std::uint32_t c) {
      const std::array<double, 8> w = corner_weights(position(level, cell, samples_.place[s]));
      const double screen = point_weight_ * std::min(cells, static_cast<double>(samples_.resolution[s]));
      const double weight = screen * samples_.area[s] * w[c];
      for (std::uint32_t j = 0; j < 8; ++j) row[slot(c, j)] += weight * w[j];
    });
    for (std::size_t k = 0; k < 27; ++k) {
      row_[27 * i + k] = static_cast<float>(row[k]);
      right -= row_[27 * i + k] * level.value[neighbor[k]];
    }
    residual_[i] = right;
  }

  /// Place among the 27 neighbours of corner j of the cell whose corner c the vertex is.
  static std::size_t slot(std::uint32_t c, std::uint32_t j) {
    return (1 + (j & 1) - (c & 1)) + 3 * (1 + (j >> 1 & 1) - (c >> 1 & 1)) + 9 * (1 + (j >> 2) - (c >> 2));
  }

  /// Conjugate gradients for the correction of the free vertices.
  void correct(Level& level, double tolerance) {
    const std::size_t n = free_.size();
    if (n == 0) return;
    BulkVector<double> direction(level.vertex_count()), product(n), correction(n);
    const auto scaled = [&](std::size_t i) { return residual_[i] / row_[27 * i + 13]; };
    double energy = parallel_sum(ctx_, n, [&](std::size_t i) { return residual_[i] * scaled(i); });
    const double enough = energy * tolerance * tolerance;
    double turn = 0;
    for (int round = 0; round < kMostIterations && energy > enough && energy > 0; ++round) {
      parallel_for(ctx_, n, kGrain * 8, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          direction[free_[i]] = scaled(i) + turn * direction[free_[i]];
      });
      parallel_for(ctx_, n, kGrain * 8, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          double sum = 0;
          for (std::size_t k = 27 * i; k < 27 * i + 27; ++k) sum += row_[k] * direction[neighbor_[k]];
          product[i] = sum;
        }
      });
      const double step =
          energy / parallel_sum(ctx_, n, [&](std::size_t i) { return direction[free_[i]] * product[i]; });
      const double before = energy;
      energy = parallel_sum(ctx_, n, [&](std::size_t i) {
        correction[i] += step * direction[free_[i]];
        residual_[i] -= step * product[i];
        return residual_[i] * scaled(i);
      });
      turn = energy / before;
    }
    parallel_for(ctx_, n, kGrain * 8, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) level.value[free_[i]] += correction[i];
    });
  }

  std::vector<Level>& levels_;
  const Samples& samples_;
  double point_weight_;
  OpContext& ctx_;
  const Element element_;
  std::vector<BulkVector<Vec3f>> own_;  ///< field of normals of each level; then also of those above it
  std::vector<BulkVector<std::array<float, 8>>>
      finer_;  ///< contributions of finer fields to the corners of refined cells
  BulkVector<std::uint32_t> free_, neighbor_;
  BulkVector<float> row_;
  BulkVector<double> residual_;
};

}  // namespace

double value_at(const Level& level, std::size_t cell, const Vec3d& place) {
  const std::array<double, 8> w = corner_weights(position(level, cell, place));
  double sum = 0;
  for (std::size_t c = 0; c < 8; ++c) sum += w[c] * level.value[level.corner[8 * cell + c]];
  return sum;
}

void solve(std::vector<Level>& levels, const Samples& samples, double point_weight, OpContext& ctx) {
  Cascade(levels, samples, point_weight, ctx).run();
}

}  // namespace pc::poisson_detail
