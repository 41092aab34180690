#include "ops/mesh/mesh_sheets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/mesh/crowded_edge.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 16;
constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr int kJoinRounds =
    4;  // rounds in which triangles may be joined in another way; later ones only part

/// Sets of triangles, each with its sense of rotation against that of the set's lowest member.
class SenseSets {
 public:
  explicit SenseSets(std::size_t count) : parent_(count), turned_(count) {
    for (std::size_t i = 0; i < count; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }
  std::uint32_t root_of(std::uint32_t member) {
    while (parent_[member] != member) {
      const std::uint32_t above = parent_[member];
      turned_[member] = turned_[member] ^ turned_[above];
      member = parent_[member] = parent_[above];
    }
    return member;
  }
  /// Whether a member runs against its root, which root_of has been asked for.
  bool is_turned(std::uint32_t member) const {
    bool turned = false;
    for (; parent_[member] != member; member = parent_[member]) turned = turned != (turned_[member] != 0);
    return turned;
  }
  /// False if the two are in one set already, with another sense.
  bool join(std::uint32_t a, std::uint32_t b, bool against) {
    const std::uint32_t first = root_of(a), second = root_of(b);
    const bool turned = (is_turned(a) != is_turned(b)) != against;
    if (first == second) return !turned;
    parent_[std::max(first, second)] = std::min(first, second);
    turned_[std::max(first, second)] = turned ? 1 : 0;
    return true;
  }

 private:
  BulkVector<std::uint32_t> parent_;
  BulkVector<std::uint8_t> turned_;  ///< against the parent
};

/// Half-edge 3 t + k runs from corner k of triangle t to the next one, and stands for that corner too.
class SheetCutter {
 public:
  SheetCutter(Span<const Vec3d> vertices, Span<TriangleCorners> corners, OpContext& ctx)
      : vertices_(vertices), corners_(corners), ctx_(ctx), partner_(3 * corners.size) {}

  MeshSheets cut() {
    pair_edges();
    for (int round = 0; untangle(round < kJoinRounds); ++round) ctx_.checkpoint();
    if (turns_needed_) turn();
    number_copies();
    return std::move(out_);
  }

 private:
  struct Side {
    std::uint32_t high, half;
    bool operator<(const Side& other) const {
      return high != other.high ? high < other.high : half < other.half;
    }
  };
  struct Fan {
    std::uint32_t low, high, half;  ///< fans of the half-edge's vertices
    bool is_with(const Fan& other) const { return low == other.low && high == other.high; }
    bool operator<(const Fan& other) const {
      return low != other.low ? low < other.low : high != other.high ? high < other.high : half < other.half;
    }
  };

  void poll(std::size_t i) const {
    if (i % kPoll == 0) ctx_.checkpoint();
  }
  std::uint32_t start(std::uint32_t half) const { return corners_[half / 3][half % 3]; }
  static std::uint32_t next(std::uint32_t half) { return half % 3 == 2 ? half - 2 : half + 1; }
  std::uint32_t end(std::uint32_t half) const { return start(next(half)); }
  bool runs_up(std::uint32_t half) const { return start(half) < end(half); }

  void join(std::uint32_t a, std::uint32_t b) {
    partner_[a] = b;
    partner_[b] = a;
  }
  void part(std::uint32_t half) {
    if (partner_[half] != kNone) partner_[partner_[half]] = kNone;
    partner_[half] = kNone;
  }
  void isolate(std::uint32_t half) {
    const std::uint32_t first = half - half % 3;
    for (std::uint32_t k = 0; k < 3; ++k) part(first + k);
  }

  /// The half-edges by their lower vertex: those of vertex v are [firsts[v], firsts[v + 1]).
  BulkVector<Side> sides_by_vertex(BulkVector<std::uint64_t>& firsts) const {
    firsts.resize(vertices_.size + 1);
    const auto count = static_cast<std::uint32_t>(partner_.size());
    for (std::uint32_t h = 0; h < count; ++h) {
      poll(h);
      ++firsts[std::min(start(h), end(h)) + std::size_t{1}];
    }
    for (std::size_t v = 0; v < vertices_.size; ++v) firsts[v + 1] += firsts[v];
    BulkVector<Side> sides(count);
    for (std::uint32_t h = 0; h < count; ++h) {
      poll(h);
      sides[firsts[std::min(start(h), end(h))]++] = {std::max(start(h), end(h)), h};
    }
    for (std::size_t v = vertices_.size; v > 0; --v) firsts[v] = firsts[v - 1];
    firsts[0] = 0;
    return sides;
  }

  /// In steps of some milliseconds: a vertex may have all triangles.
  void sort_sides(Side* from, Side* to) const {
    const auto count = static_cast<std::size_t>(to - from);
    for (std::size_t at = 0; at < count; at += kPoll) {
      if (at > 0) ctx_.checkpoint();
      std::sort(from + at, from + std::min(count, at + kPoll));
    }
    for (std::size_t run = kPoll; run < count; run *= 2) {
      for (std::size_t at = 0; at + run < count; at += 2 * run) {
        ctx_.checkpoint();
        std::inplace_merge(from + at, from + at + run, from + std::min(count, at + 2 * run));
      }
    }
  }

  /// Joins the triangles of every edge: two are a pair, more are paired by crowded_edge.h.
  void pair_edges() {
    BulkVector<std::uint64_t> firsts;
    BulkVector<Side> sides = sides_by_vertex(firsts);
    std::vector<std::vector<std::vector<std::uint32_t>>> crowded((vertices_.size + kGrain - 1) / kGrain);
    std::vector<std::uint8_t> turns(crowded.size());
    parallel_for(ctx_, vertices_.size, kGrain, [&](std::size_t begin, std::size_t finish) {
      const std::size_t block = begin / kGrain;
      for (std::size_t v = begin; v < finish; ++v) {
        Side* const from = sides.data() + firsts[v];
        Side* const to = sides.data() + firsts[v + 1];
        sort_sides(from, to);
        for (Side *run = from, *stop = from; run < to; run = stop) {
          while (stop < to && stop->high == run->high) ++stop;
          for (const Side* side = run; side < stop; ++side) partner_[side->half] = kNone;
          if (stop - run == 2) {
            join(run[0].half, run[1].half);
            turns[block] |= runs_up(run[0].half) == runs_up(run[1].half) ? 1 : 0;
          } else if (stop - run > 2) {
            auto& halves = crowded[block].emplace_back();
            for (const Side* side = run; side < stop; ++side) halves.push_back(side->half);
            turns[block] |= pair_crowded(halves) ? 1 : 0;
          }
        }
      }
    });
    for (std::size_t block = 0; block < crowded.size(); ++block) {
      ctx_.checkpoint();
      turns_needed_ = turns_needed_ || turns[block] != 0;
      for (auto& halves : crowded[block]) crowded_.push_back(std::move(halves));
    }
    out_.crowded_edge_count = crowded_.size();
    swapped_.resize(crowded_.size());
  }

  /// Whether a pair runs in the same direction.
  bool pair_crowded(const std::vector<std::uint32_t>& halves) {
    const bool up = runs_up(halves[0]);
    const std::uint32_t low = up ? start(halves[0]) : end(halves[0]),
                        high = up ? end(halves[0]) : start(halves[0]);
    std::vector<CrowdedSide> sides;
    for (const std::uint32_t h : halves) sides.push_back({vertices_[start(next(next(h)))], h, runs_up(h)});
    bool same = false;
    for (const auto& [a, b] : pairs_round_edge(vertices_[low], vertices_[high], sides, ctx_)) {
      join(a, b);
      same = same || runs_up(a) == runs_up(b);
    }
    return same;
  }

  UnionFind fans() const {
    UnionFind fans(partner_.size());
    for (std::uint32_t h = 0; h < partner_.size(); ++h) {
      poll(h);
      const std::uint32_t other = partner_[h];
      if (other == kNone || other < h) continue;
      const bool against = start(h) == end(other);
      fans.join(h, against ? next(other) : other);
      fans.join(next(h), against ? other : next(other));
    }
    return fans;
  }

  /// Makes edges that would stay crowded, because both ends of two pairs have the same fan, ones of two triangles. False
  /// if there was none.
  bool untangle(bool may_join) {
    if (crowded_.empty()) return false;
    UnionFind fan_of = fans();
    bool changed = false;
    std::vector<Fan> members;
    for (std::size_t e = 0; e < crowded_.size(); ++e) {
      poll(e);
      members.clear();
      for (const std::uint32_t h : crowded_[e]) {
        const std::uint32_t from = fan_of.root_of(h), to = fan_of.root_of(next(h));
        members.push_back(runs_up(h) ? Fan{from, to, h} : Fan{to, from, h});
      }
      std::sort(members.begin(), members.end());
      for (auto run = members.begin(), stop = run; run != members.end(); run = stop) {
        while (stop != members.end() && stop->is_with(*run)) ++stop;
        const auto count = static_cast<std::size_t>(stop - run);
        if (count == 1 || (count == 2 && partner_[run->half] == run[1].half)) continue;
        changed = true;
        resolve(&*run, count, may_join, swapped_[e]);
      }
    }
    return changed;
  }

  /// `members`: half-edges of an edge whose ends have the same fans.
  void resolve(const Fan* members, std::size_t count, bool may_join, std::uint8_t& swapped) {
    const std::uint32_t a = members[0].half, b = partner_[a];
    if (count == 2 && may_join) return join_anew(a, members[1].half);
    if (count == 4 && may_join && swapped == 0 && b != kNone) {
      const std::uint32_t c = members[members[1].half == b ? 2 : 1].half, d = partner_[c];
      if (d != kNone) {
        const bool crosswise = runs_up(a) != runs_up(c) && runs_up(b) != runs_up(d);
        join_anew(a, crosswise ? c : d);
        join_anew(b, crosswise ? d : c);
        swapped = 1;
        return;
      }
    }
    for (std::size_t k = 1; k < count; ++k)
      if (members[k].half != b) isolate(members[k].half);
  }

  void join_anew(std::uint32_t a, std::uint32_t b) {
    part(a);
    part(b);
    join(a, b);
    turns_needed_ = turns_needed_ || runs_up(a) == runs_up(b);
  }

  /// Gives the joined triangles of each component one sense; parts those for which there is none.
  void turn() {
    const std::size_t count = corners_.size;
    SenseSets sets(count);
    for (std::uint32_t h = 0; h < partner_.size(); ++h) {
      poll(h);
      const std::uint32_t other = partner_[h];
      if (other == kNone || other < h) continue;
      if (!sets.join(h / 3, other / 3, runs_up(h) == runs_up(other))) part(h);
    }
    BulkVector<double> balance(count);  // area turned less area not turned
    const auto area = [&](std::size_t t) {
      const Vec3d& at = vertices_[corners_[t][0]];
      const Vec3d n = cross(vertices_[corners_[t][1]] - at, vertices_[corners_[t][2]] - at);
      return std::sqrt(dot(n, n));
    };
    for (std::uint32_t t = 0; t < count; ++t) {
      poll(t);
      const std::uint32_t root = sets.root_of(t);
      balance[root] += sets.is_turned(t) ? area(t) : -area(t);
    }
    turned_.resize(count);
    for (std::uint32_t t = 0; t < count; ++t) {
      poll(t);
      const std::uint32_t root = sets.root_of(t);
      turned_[t] = sets.is_turned(t) != (balance[root] > 0) ? 1 : 0;
      out_.turned_count += turned_[t];
    }
  }

  /// Every fan but the first of a vertex gets a copy.
  void number_copies() {
    UnionFind fan_of = fans();
    BulkVector<std::uint32_t> first_fan(vertices_.size), number(partner_.size());
    for (std::size_t v = 0; v < vertices_.size; ++v) first_fan[v] = kNone;
    for (std::uint32_t h = 0; h < partner_.size(); ++h) {
      poll(h);
      const std::uint32_t root = fan_of.root_of(h), v = start(h);
      if (first_fan[v] == kNone) first_fan[v] = root;
      if (root != h) continue;
      number[h] = v;
      if (first_fan[v] == root) continue;
      number[h] = static_cast<std::uint32_t>(vertices_.size + out_.copy_of.size());
      if (vertices_.size + out_.copy_of.size() >= kNone)
        throw Error(ErrorCode::kUnsupported,
                    "the mesh has 2^32 vertices or more after it is cut into sheets");
      out_.copy_of.push_back(v);
    }
    for (std::uint32_t t = 0; t < corners_.size; ++t) {
      poll(t);
      for (std::uint32_t k = 0; k < 3; ++k) corners_[t][k] = number[fan_of.root_of(3 * t + k)];
      if (!turned_.empty() && turned_[t] != 0) std::swap(corners_[t][1], corners_[t][2]);
    }
  }

  Span<const Vec3d> vertices_;
  Span<TriangleCorners> corners_;
  OpContext& ctx_;
  BulkVector<std::uint32_t> partner_;  ///< half-edge to which each is joined, or kNone
  std::vector<std::vector<std::uint32_t>> crowded_;
  std::vector<std::uint8_t> swapped_;  ///< per crowded edge: its pairs were changed once
  BulkVector<std::uint8_t> turned_;    ///< empty = none
  bool turns_needed_ = false;          ///< some joined triangles run in the same direction
  MeshSheets out_;
};

}  // namespace

MeshSheets cut_into_sheets(Span<const Vec3d> vertices, Span<TriangleCorners> corners, OpContext& ctx) {
  require(vertices.size < kNone && corners.size < (std::size_t{1} << 30),
          "a mesh has fewer than 2^32 vertices and 2^30 triangles");
  return SheetCutter(vertices, corners, ctx).cut();
}

}  // namespace pc
