#pragma once
#include <cstddef>
#include <cstdint>

/// The register operations that all sets of instructions name alike: `prefix` and `suffix` of their intrinsics.
#define PC_PACKED_ARITHMETIC(Registers, Number, count, prefix, suffix)                                       \
  using Register = Registers;                                                                                \
  using Value = Number;                                                                                      \
  static constexpr std::size_t kSize = count;                                                                \
  PC_LANES_TARGET static Register load(const Value* from) { return prefix##_load_##suffix(from); }           \
  PC_LANES_TARGET static Register all(Value value) { return prefix##_set1_##suffix(value); }                 \
  PC_LANES_TARGET static void store(Value* to, Register v) { prefix##_store_##suffix(to, v); }               \
  PC_LANES_TARGET static Register sum(Register a, Register b) { return prefix##_add_##suffix(a, b); }        \
  PC_LANES_TARGET static Register difference(Register a, Register b) { return prefix##_sub_##suffix(a, b); } \
  PC_LANES_TARGET static Register product(Register a, Register b) { return prefix##_mul_##suffix(a, b); }    \
  PC_LANES_TARGET static Register quotient(Register a, Register b) { return prefix##_div_##suffix(a, b); }   \
  PC_LANES_TARGET static Register lesser(Register a, Register b) { return prefix##_min_##suffix(a, b); }     \
  PC_LANES_TARGET static Register greater(Register a, Register b) { return prefix##_max_##suffix(a, b); }    \
  PC_LANES_TARGET static Register product_less(Register a, Register b, Register c) {                         \
    return prefix##_fmsub_##suffix(a, b, c);                                                                 \
  }

namespace pc {

/// Numbers side by side in a register. `Set` has the operations above on one kind of register, and those on masks; its type
/// belongs to one set of instructions, so that source files share no function. The including file sets PC_LANES_TARGET.
template <class Set>
struct Packed {
  static constexpr std::size_t kSize = Set::kSize;
  using Value = typename Set::Value;
  struct Mask {
    typename Set::Bits v;
    PC_LANES_TARGET std::uint64_t bits() const { return Set::bits(v); }
    PC_LANES_TARGET static Mask of(std::uint64_t bits) { return {Set::mask(bits)}; }
    PC_LANES_TARGET friend Mask operator&(const Mask& a, const Mask& b) { return {Set::both(a.v, b.v)}; }
  };
  typename Set::Register v;

  PC_LANES_TARGET static Packed load(const Value* from) { return {Set::load(from)}; }
  PC_LANES_TARGET static Packed all(Value value) { return {Set::all(value)}; }
  PC_LANES_TARGET void store(Value* to) const { Set::store(to, v); }
  PC_LANES_TARGET friend Packed operator+(const Packed& a, const Packed& b) { return {Set::sum(a.v, b.v)}; }
  PC_LANES_TARGET friend Packed operator-(const Packed& a, const Packed& b) {
    return {Set::difference(a.v, b.v)};
  }
  PC_LANES_TARGET friend Packed operator*(const Packed& a, const Packed& b) {
    return {Set::product(a.v, b.v)};
  }
  PC_LANES_TARGET friend Packed operator/(const Packed& a, const Packed& b) {
    return {Set::quotient(a.v, b.v)};
  }
  PC_LANES_TARGET friend Mask operator<(const Packed& a, const Packed& b) { return {Set::less(a.v, b.v)}; }
  PC_LANES_TARGET friend Mask operator<=(const Packed& a, const Packed& b) {
    return {Set::at_most(a.v, b.v)};
  }
  PC_LANES_TARGET friend Mask operator==(const Packed& a, const Packed& b) { return {Set::equal(a.v, b.v)}; }
  /// The second if either is no number.
  PC_LANES_TARGET static Packed lesser(const Packed& a, const Packed& b) { return {Set::lesser(a.v, b.v)}; }
  PC_LANES_TARGET static Packed greater(const Packed& a, const Packed& b) { return {Set::greater(a.v, b.v)}; }
  PC_LANES_TARGET friend Packed abs(const Packed& a) { return {Set::magnitude(a.v)}; }
  PC_LANES_TARGET friend Packed select(const Mask& mask, const Packed& yes, const Packed& no) {
    return {Set::chosen(mask.v, yes.v, no.v)};
  }
  /// a * b - c, rounded once.
  PC_LANES_TARGET friend Packed product_less(const Packed& a, const Packed& b, const Packed& c) {
    return {Set::product_less(a.v, b.v, c.v)};
  }
  /// In double precision, from as many in single precision; and back.
  PC_LANES_TARGET auto wide() const { return Packed<typename Set::Wide>{Set::widened(v)}; }
  PC_LANES_TARGET auto single() const { return Packed<typename Set::Single>{Set::rounded(v)}; }
};

}  // namespace pc
