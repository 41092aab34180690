#include "core/dtype_fit.h"

#include <array>

namespace pc {

namespace {

/// Whole numbers that a type holds without gaps: -2^below .. 2^above - 1, and whether it also holds fractions.
struct Reach {
  int below;  ///< -1 = no negative numbers
  int above;
  bool fractions;
};

std::optional<Reach> reach_of(DType dtype) {
  if (dtype == DType::kVec3d || dtype == DType::kRgb16) return std::nullopt;
  return visit_scalar_type(dtype, [](auto type) -> Reach {
    using T = typename decltype(type)::type;
    constexpr int digits = std::numeric_limits<T>::digits;
    return {std::is_signed_v<T> ? digits : -1, digits, std::is_floating_point_v<T>};
  });
}

constexpr std::array<DType, 10> kNarrowFirst = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16,
                                                DType::kU32, DType::kI32, DType::kF32, DType::kU64,
                                                DType::kI64, DType::kF64};

std::optional<DType> narrowest(const Reach& wanted) {
  for (const DType dtype : kNarrowFirst) {
    const Reach reach = *reach_of(dtype);
    // Labels that are whole numbers stay in an integer type.
    if (reach.fractions == wanted.fractions && reach.below >= wanted.below && reach.above >= wanted.above)
      return dtype;
  }
  return std::nullopt;
}

template <class From, class To>
std::size_t convert(const std::byte* from, const std::uint32_t* rows, std::size_t count, std::byte* to) {
  const From* const in = reinterpret_cast<const From*>(from);
  To* const out = reinterpret_cast<To*>(to);
  for (std::size_t i = 0; i < count; ++i) {
    if (!exact_cast(in[rows == nullptr ? i : rows[i]], out[i])) return i;
  }
  return count;
}

}  // namespace

std::optional<DType> common_dtype(DType a, DType b) {
  if (a == b && reach_of(a)) return a;
  const auto first = reach_of(a), second = reach_of(b);
  if (!first || !second) return std::nullopt;
  return narrowest({std::max(first->below, second->below), std::max(first->above, second->above),
                    first->fractions || second->fractions});
}

std::optional<DType> dtype_holding(DType dtype, double value) {
  if (!reach_of(dtype)) return std::nullopt;
  const auto fits = [&](DType wanted) {
    return visit_scalar_type(wanted, [&](auto type) {
      typename decltype(type)::type out{};
      return exact_cast(value, out);
    });
  };
  if (fits(dtype)) return dtype;
  for (const DType wider : kNarrowFirst) {
    if (common_dtype(dtype, wider) == wider && fits(wider)) return wider;
  }
  return std::nullopt;
}

ConvertRows row_converter(DType from, DType to) {
  return visit_scalar_type(from, [&](auto source) {
    return visit_scalar_type(to, [&](auto target) -> ConvertRows {
      return &convert<typename decltype(source)::type, typename decltype(target)::type>;
    });
  });
}

}  // namespace pc
