#include "binding/voxel_values.h"

#include "binding/js_values.h"

namespace pc::binding {

VoxelBox HeldVoxelBox::view() const {
  VoxelBox out = box;
  out.offsets = view_or_empty<double>(offsets);
  out.kept = view_or_empty<std::uint8_t>(kept);
  return out;
}

HeldVoxelBox held_voxel_box(const Napi::Value& value) {
  const auto js = strict_object(value, "grid");
  return {{vec3_field(js, "center"),
           vec3_field(js, "size"),
           whole_field<std::uint32_t>(js, "nx"),
           whole_field<std::uint32_t>(js, "ny"),
           whole_field<std::uint32_t>(js, "nz"),
           number_field(js, "rotation_deg"),
           {},
           {}},
          optional_typed_column(js.Get("offsets"), DType::kF64, "offsets"),
          optional_typed_column(js.Get("kept"), DType::kU8, "kept")};
}

}  // namespace pc::binding
