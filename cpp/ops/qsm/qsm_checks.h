#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"

namespace pc {

/// How the cylinders of a model hang together, as positions in its list.
struct CylinderLinks {
  std::vector<std::int64_t> parent;  ///< position of each cylinder's parent, kNoQsmParent for a root
  std::vector<std::uint32_t>
      first_child;  ///< children of i: child[first_child[i] .. first_child[i + 1]), in list order
  std::vector<std::uint32_t> child;
};

/// Finds the parents and children of all cylinders. Order: as in the model. Cost: O(n log n) time; 24 bytes a cylinder.
/// Errors: kInvalidArgument for two cylinders of one id, a parent that does not exist, a cylinder that is its own parent,
/// a cycle, a radius that is not above 0, a position or a radius that is not finite or beyond 1e90 m, and more than 2^31
/// cylinders; the message names the cylinder.
CylinderLinks cylinder_links(const Qsm& qsm, OpContext& ctx);

/// Like cylinder_links, and checks the shoots: each cylinder belongs to exactly the shoot that it names, which lists it
/// once; parents and children of shoots exist, agree, and form no cycle. For models that a user sends.
CylinderLinks check_qsm(const Qsm& qsm, OpContext& ctx);

}  // namespace pc
