#pragma once
#include <memory>
#include <vector>

#include "binding/column_handle.h"
#include "io/cloud_view.h"

namespace pc::binding {

/// A CloudView and the columns it refers to, kept alive while the job runs.
struct HeldView {
  std::vector<ColumnPtr> columns;
  io::CloudView view;
};
std::shared_ptr<HeldView> held_view(const Napi::Value& value);

}  // namespace pc::binding
