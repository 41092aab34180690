#pragma once
#include <algorithm>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree.h"

namespace pc {

/// The neighbours of a node: two lists, read as one.
class PathNeighbors {
 public:
  class Iterator {
   public:
    Iterator(const std::uint32_t* at, const std::uint32_t* near_end, const std::uint32_t* others)
        : at_(at == near_end ? others : at), near_end_(near_end), others_(others) {}
    std::uint32_t operator*() const { return *at_; }
    Iterator& operator++() {
      if (++at_ == near_end_) at_ = others_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const std::uint32_t *at_, *near_end_, *others_;
  };
  PathNeighbors(Span<const std::uint32_t> near, Span<const std::uint32_t> others)
      : near_(near), others_(others) {}
  Iterator begin() const { return {near_.begin(), near_.end(), others_.begin()}; }
  Iterator end() const { return {others_.end(), nullptr, others_.end()}; }

 private:
  Span<const std::uint32_t> near_, others_;
};

/// Nodes and their neighbours, in both directions: those that a node is near to, then the others that are near to it.
struct PathGraph {
  std::size_t width = 0;
  BulkVector<std::uint32_t> near;          ///< (m width) lists that end at the first kNoNeighbor
  BulkVector<std::uint32_t> others_first;  ///< (m + 1)
  BulkVector<std::uint32_t> others;
  BulkVector<float> scatter;  ///< (m) least by largest variance of the neighbourhood, 0 (line, plane) to 1

  static constexpr std::uint32_t kNoNeighbor = ~std::uint32_t{0};

  std::size_t size() const { return scatter.size(); }
  Span<const std::uint32_t> near_of(std::size_t node) const {
    const std::uint32_t* const begin = near.data() + node * width;
    return {begin, static_cast<std::size_t>(std::find(begin, begin + width, kNoNeighbor) - begin)};
  }
  PathNeighbors of(std::uint32_t node) const {
    const std::uint32_t begin = others_first[node];
    return {near_of(node), others.view().subspan(begin, others_first[node + 1] - begin)};
  }
};

/// Joins every node to its `neighbors` nearest ones within `most_gap_m`.
///
/// Cost   O(m neighbors) time, 4 bytes per neighbour, about 1.3 times as many neighbours as asked for.
/// Errors kUnsupported: more than 2^32 neighbours that are near in one direction alone.
PathGraph path_graph(Span<const Vec3d> nodes, std::uint32_t neighbors, double most_gap_m, OpContext& ctx);

/// The same graph, made while another search visits the nearest neighbours of every node: set_near for each node, from
/// any thread, then finish.
struct PathGraphMaker {
  Span<const Vec3d> nodes;
  double most_gap_m;
  PathGraph graph;

  PathGraphMaker(Span<const Vec3d> places, std::uint32_t neighbors, double gap_m);
  /// rows, squared: of the nearest other nodes, nearest first; those beyond the number of neighbours are ignored.
  void set_near(std::size_t node, Span<const std::uint64_t> rows, Span<const double> squared);
  PathGraph finish(OpContext& ctx) &&;
};

}  // namespace pc
