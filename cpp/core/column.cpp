#include "core/column.h"

#include <array>

namespace pc {

namespace {
constexpr std::array<const char*, 12> kNames = {"u8",  "i8",  "u16", "i16", "u32",   "i32",
                                                "u64", "i64", "f32", "f64", "vec3d", "rgb16"};
}

const char* dtype_name(DType t) { return kNames.at(static_cast<std::size_t>(t)); }

DType parse_dtype(const std::string& name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<DType>(i);
  }
  std::string list;
  for (const char* known : kNames) list += list.empty() ? known : std::string(", ") + known;
  throw Error(ErrorCode::kInvalidArgument, "unknown column type \"" + name + "\": one of " + list);
}

AnyColumn AnyColumn::map_file(const std::string& path, std::uint64_t offset, DType dtype, std::size_t size) {
  AnyColumn column;
  column.dtype_ = dtype;
  column.size_ = size;
  column.block_ = PageBlock::map_file(path, offset, checked_bytes(size, dtype_size(dtype)));
  return column;
}

}  // namespace pc
