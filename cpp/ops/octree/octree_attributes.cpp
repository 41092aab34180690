#include "ops/octree/octree_attributes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>

#include "core/error.h"
#include "core/parallel.h"
#include "core/prefetch.h"

namespace pc::octree {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::uint64_t kMaxRows = 0xfffffffeULL;
constexpr std::uint32_t kMaxLeafCapacity = 1u << 20;
constexpr std::size_t kAhead = 16;  // rows prefetched, because the gather is bound by memory latency

/// The number that a record stores. A double above the largest float becomes infinite.
template <class S, class T>
S stored(T value) {
  if constexpr (std::is_same_v<S, float> && std::is_same_v<T, double>) {
    if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
      // Half a step above the largest float still rounds to it.
      return value > 0 ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
    }
  }
  return static_cast<S>(value);
}

/// Calls visit(values, S{}) with the values of a scalar attribute and a number of the stored type.
template <class Visit>
void visit_attribute(const OctreeAttribute& attribute, Visit&& visit) {
  const DType to = stored_dtype(attribute);
  visit_scalar(*attribute.values, [&](auto values) {
    using T = std::remove_const_t<std::remove_reference_t<decltype(values[0])>>;
    if constexpr (sizeof(T) == 8) {
      if (to == DType::kF64) return visit(values, double{});
      return visit(values, float{});
    } else {
      return visit(values, T{});
    }
  });
}

const char* type_name(DType type) {
  switch (type) {
    case DType::kU8:
      return "uint8";
    case DType::kI8:
      return "int8";
    case DType::kU16:
    case DType::kRgb16:
      return "uint16";
    case DType::kI16:
      return "int16";
    case DType::kU32:
      return "uint32";
    case DType::kI32:
      return "int32";
    case DType::kF32:
      return "float";
    default:
      return "double";
  }
}

/// Range of up to three channels; empty if min > max.
template <class T, std::size_t kChannels>
struct Range {
  std::array<T, kChannels> min, max;
  Range() {
    min.fill(std::numeric_limits<T>::max());
    max.fill(std::numeric_limits<T>::lowest());
  }
  void add(std::size_t c, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) return;
    }
    min[c] = value < min[c] ? value : min[c];
    max[c] = value > max[c] ? value : max[c];
  }
  void add(const Range& other) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      if (other.min[c] > other.max[c]) continue;
      add(c, other.min[c]);
      add(c, other.max[c]);
    }
  }
};

template <class T, std::size_t kChannels, class Add>
void measure_range(const OctreeInput& input, OctreeAttributeInfo& info, OpContext& ctx, const Add& add_row) {
  std::vector<Range<T, kChannels>> parts(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, input.positions.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Range<T, kChannels> part;
    if (input.skip.empty()) {
      for (std::size_t i = begin; i < end; ++i) add_row(part, i);
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        if (input.skip[i] == 0) add_row(part, i);
      }
    }
    parts[static_cast<std::size_t>(worker)].add(part);
  });
  Range<T, kChannels> all;
  for (const auto& part : parts) all.add(part);
  info.has_range = true;
  for (std::size_t c = 0; c < kChannels; ++c) {
    const bool found = all.min[c] <= all.max[c];
    info.has_range = info.has_range && found;
    // + 0.0: whether -0 or +0 is the extremum depends on the order of rows.
    info.min.push_back(found ? static_cast<double>(all.min[c]) + 0.0 : 0.0);
    info.max.push_back(found ? static_cast<double>(all.max[c]) + 0.0 : 0.0);
  }
}

OctreeAttributeInfo measure_attribute(const OctreeInput& input, const OctreeAttribute& attribute,
                                      OpContext& ctx) {
  const AnyColumn& column = *attribute.values;
  const bool color = column.dtype() == DType::kRgb16;
  OctreeAttributeInfo info{attribute.name,
                           attribute.label,
                           type_name(stored_dtype(attribute)),
                           stored_size(attribute),
                           color ? 3u : 1u,
                           0,
                           false,
                           {},
                           {}};
  info.element_size = info.size / info.num_elements;
  if (color) {
    const Span<const Rgb16> values = column.as<Rgb16>();
    measure_range<std::uint16_t, 3>(input, info, ctx, [&](auto& range, std::size_t i) {
      range.add(0, values[i].r);
      range.add(1, values[i].g);
      range.add(2, values[i].b);
    });
    return info;
  }
  visit_attribute(attribute, [&](auto values, auto type) {
    using S = decltype(type);
    measure_range<S, 1>(input, info, ctx,
                        [&](auto& range, std::size_t i) { range.add(0, stored<S>(values[i])); });
  });
  return info;
}

template <class T, class S>
void gather(const std::byte* column, Span<const std::uint32_t> rows, std::byte* out, std::size_t stride) {
  const T* values = reinterpret_cast<const T*>(column);
  for (std::size_t i = 0; i < rows.size; ++i) {
    if (i + kAhead < rows.size) prefetch(values + rows[i + kAhead]);
    const S value = stored<S>(values[rows[i]]);
    std::memcpy(out + i * stride, &value, sizeof value);
  }
}

}  // namespace

DType stored_dtype(const OctreeAttribute& attribute) {
  const DType type = attribute.values->dtype();
  if (type == DType::kVec3d)
    throw Error(ErrorCode::kInvalidArgument, "an octree attribute is a scalar or a colour, not vec3d");
  if (type == DType::kRgb16 || dtype_size(type) < 8) return type;
  return attribute.name == "gps-time" ? DType::kF64 : DType::kF32;
}

std::uint32_t stored_size(const OctreeAttribute& attribute) {
  return static_cast<std::uint32_t>(dtype_size(stored_dtype(attribute)));
}

void check_input(const OctreeInput& input, const OctreeParams& params) {
  require(std::isfinite(params.scale) && params.scale > 0,
          "octree scale must be finite and positive, in metres");
  require(params.leaf_capacity >= 1 && params.leaf_capacity <= kMaxLeafCapacity,
          "octree leaf_capacity must be from 1 to 1048576 points");
  const std::size_t rows = input.positions.size;
  if (rows > kMaxRows) {
    throw Error(ErrorCode::kUnsupported,
                std::to_string(rows) + " rows are more than one octree can hold (2^32 - 2); split the cloud");
  }
  require(input.skip.empty() || input.skip.size == rows, "octree skip mask and positions differ in length");
  std::set<std::string> names{"position", "POSITION_CARTESIAN", "rgba", "RGBA", "INDICES", "NORMAL"};
  for (const OctreeAttribute& attribute : input.attributes) {
    const bool color = attribute.values != nullptr && attribute.values->dtype() == DType::kRgb16;
    const std::string what = "octree attribute \"" + attribute.name + "\" ";
    const auto refuse = [&](const char* why) { throw Error(ErrorCode::kInvalidArgument, what + why); };
    if (attribute.values == nullptr) refuse("has no values");
    if (attribute.name.empty()) refuse("needs a name");
    if (!names.insert(attribute.name).second) refuse("is named twice, or like a reserved one; rename it");
    if (attribute.values->size() != rows) refuse("has another number of rows than the positions");
    if (color != (attribute.name == "rgb")) refuse("must be a colour column if and only if it is named rgb");
    stored_dtype(attribute);
  }
}

std::vector<OctreeAttributeInfo> measure_attributes(const OctreeInput& input, const Frame& frame,
                                                    OpContext& ctx) {
  std::vector<OctreeAttributeInfo> all;
  const bool any = frame.point_count != 0;
  const Vec3d low = any ? frame.tight.min : Vec3d{0, 0, 0}, high = any ? frame.tight.max : Vec3d{0, 0, 0};
  all.push_back({"position", "", "int32", 12, 3, 4, any, {low.x, low.y, low.z}, {high.x, high.y, high.z}});
  for (const OctreeAttribute& attribute : input.attributes)
    all.push_back(measure_attribute(input, attribute, ctx));
  return all;
}

void gather_values(const OctreeAttribute& attribute, Span<const std::uint32_t> rows, std::byte* out,
                   std::size_t stride) {
  const AnyColumn& column = *attribute.values;
  if (column.dtype() == DType::kRgb16) return gather<Rgb16, Rgb16>(column.data(), rows, out, stride);
  visit_attribute(attribute, [&](auto values, auto type) {
    using T = std::remove_const_t<std::remove_reference_t<decltype(values[0])>>;
    gather<T, decltype(type)>(column.data(), rows, out, stride);
  });
}

}  // namespace pc::octree
