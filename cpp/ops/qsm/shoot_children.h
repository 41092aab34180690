#pragma once
#include "core/qsm.h"

namespace pc {

/// Fills child_shoot_ids from parent_shoot_id where no shoot of the model lists a child: the lists are optional for models
/// that a user sends. A parent that does not exist is left to check_qsm. Cost: O(n log n).
void list_missing_children(Qsm& qsm);

}  // namespace pc
