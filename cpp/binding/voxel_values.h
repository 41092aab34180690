#pragma once
#include "binding/column_handle.h"
#include "binding/js_values.h"
#include "ops/mesh/grid_binning.h"

namespace pc::binding {

/// A grid, with the columns that it refers to. box() is valid as long as this lives.
struct HeldGrid {
  Vec3d center, size;
  std::uint32_t nx, ny, nz;
  double rotation_deg;
  ColumnPtr offsets, kept;

  VoxelBox box() const {
    return {center, size, nx, ny, nz, rotation_deg, view_or_empty<double>(offsets), view_or_empty<std::uint8_t>(kept)};
  }
};

/// { center, size, nx, ny, nz, rotation_deg, offsets: f64 | null, kept: u8 | null }
inline HeldGrid held_grid(const Napi::Value& value) {
  const auto js = strict_object(value, "grid");
  return {vec3_field(js, "center"),
          vec3_field(js, "size"),
          whole_field<std::uint32_t>(js, "nx"),
          whole_field<std::uint32_t>(js, "ny"),
          whole_field<std::uint32_t>(js, "nz"),
          number_field(js, "rotation_deg"),
          optional_typed_column(js.Get("offsets"), DType::kF64, "offsets"),
          optional_typed_column(js.Get("kept"), DType::kU8, "kept")};
}

}  // namespace pc::binding
