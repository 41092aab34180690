#pragma once
#include <cstdint>
#include <vector>

namespace pc {

/// Normal equations of unknowns that belong to the nodes of rooted trees, where each node shares terms with its parent alone.
///
/// Solved from the tips to the roots and back by blocks: O(nodes size^3) time, 8 nodes size^2 bytes. One thread, the same bits
/// every time.
class BranchSystem {
 public:
  /// Terms of one node and of its parent, symmetric: own, own to parent, parent; row by row (size x size).
  struct Terms {
    std::vector<double> own, across, parent;
    std::vector<double> own_side, parent_side;  ///< (size) right-hand sides
    void clear(std::size_t size);
  };

  /// parent   of each node: a lower number, or its own for a root
  BranchSystem(std::vector<std::uint32_t> parent, std::size_t size);

  /// Takes the terms of node after node, the last node first, each once. `terms` are used up.
  /// Returns false where they do not determine the node.
  bool eliminate(std::uint32_t node, Terms& terms);
  /// The unknowns, node by node (nodes x size), once all nodes are eliminated.
  std::vector<double> solve() const;

 private:
  struct Pending {
    std::vector<double> own, side;
  };
  std::vector<std::uint32_t> parent_;
  std::size_t size_;
  std::vector<Pending> pending_;  // what eliminated children leave; empty without
  std::vector<std::vector<double>> follows_, still_;
};

}  // namespace pc
