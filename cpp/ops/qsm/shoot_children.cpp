#include "ops/qsm/shoot_children.h"

#include <algorithm>
#include <unordered_map>

namespace pc {

void list_missing_children(Qsm& qsm) {
  const auto lists = [](const QsmShoot& shoot) { return !shoot.child_shoot_ids.empty(); };
  if (std::any_of(qsm.shoots.begin(), qsm.shoots.end(), lists)) return;
  std::unordered_map<std::int64_t, std::size_t> position;
  position.reserve(qsm.shoots.size());
  for (std::size_t i = 0; i < qsm.shoots.size(); ++i) position.emplace(qsm.shoots[i].shoot_id, i);
  for (const QsmShoot& shoot : qsm.shoots) {
    const auto parent = position.find(shoot.parent_shoot_id);
    if (parent != position.end()) qsm.shoots[parent->second].child_shoot_ids.push_back(shoot.shoot_id);
  }
}

}  // namespace pc
