#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pc {

/// Four numbers in a register: GCC and Clang have a type for it on every processor. Loops over plain numbers are left to the
/// optimizer, which may keep each number alone, at a tenth of the speed.
class FourFloats {
 public:
  static constexpr std::size_t kSize = 4;
#if defined(__GNUC__)
  typedef float Numbers __attribute__((vector_size(16)));
  typedef std::int32_t Mask __attribute__((vector_size(16)));  ///< -1 where true, else 0

  static FourFloats all(float value) { return {Numbers{value, value, value, value}}; }

  friend FourFloats operator+(FourFloats a, FourFloats b) { return {a.numbers_ + b.numbers_}; }
  friend FourFloats operator-(FourFloats a, FourFloats b) { return {a.numbers_ - b.numbers_}; }
  friend FourFloats operator*(FourFloats a, FourFloats b) { return {a.numbers_ * b.numbers_}; }
  friend Mask less(FourFloats a, FourFloats b) { return a.numbers_ < b.numbers_; }
  friend FourFloats chosen(Mask mask, FourFloats yes, FourFloats no) {
    return {reinterpret_cast<Numbers>((mask & yes.bits()) | (~mask & no.bits()))};
  }
  /// 0 where the mask is false.
  friend FourFloats where(Mask mask, FourFloats a) { return {reinterpret_cast<Numbers>(mask & a.bits())}; }
  friend FourFloats magnitude(FourFloats a) {
    return {reinterpret_cast<Numbers>(a.bits() & Mask{INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX})};
  }
#else
  struct Mask {
    bool of[kSize];
    friend Mask operator&(Mask a, const Mask& b) {
      for (std::size_t i = 0; i < kSize; ++i) a.of[i] = a.of[i] && b.of[i];
      return a;
    }
  };
  struct Numbers {
    float of[kSize];
    float& operator[](std::size_t i) { return of[i]; }
    float operator[](std::size_t i) const { return of[i]; }
  };

  static FourFloats all(float value) { return {Numbers{{value, value, value, value}}}; }

  friend FourFloats operator+(FourFloats a, FourFloats b) {
    return each([&](std::size_t i) { return a.numbers_[i] + b.numbers_[i]; });
  }
  friend FourFloats operator-(FourFloats a, FourFloats b) {
    return each([&](std::size_t i) { return a.numbers_[i] - b.numbers_[i]; });
  }
  friend FourFloats operator*(FourFloats a, FourFloats b) {
    return each([&](std::size_t i) { return a.numbers_[i] * b.numbers_[i]; });
  }
  friend Mask less(FourFloats a, FourFloats b) {
    Mask mask;
    for (std::size_t i = 0; i < kSize; ++i) mask.of[i] = a.numbers_[i] < b.numbers_[i];
    return mask;
  }
  friend FourFloats chosen(Mask mask, FourFloats yes, FourFloats no) {
    return each([&](std::size_t i) { return mask.of[i] ? yes.numbers_[i] : no.numbers_[i]; });
  }
  /// 0 where the mask is false.
  friend FourFloats where(Mask mask, FourFloats a) { return chosen(mask, a, all(0)); }
  friend FourFloats magnitude(FourFloats a) {
    return each([&](std::size_t i) { return std::fabs(a.numbers_[i]); });
  }
#endif

  static FourFloats load(const float* from) {
    FourFloats loaded;
    std::memcpy(&loaded.numbers_, from, sizeof loaded.numbers_);
    return loaded;
  }
  void store(float* to) const { std::memcpy(to, &numbers_, sizeof numbers_); }
  friend FourFloats larger(FourFloats a, FourFloats b) { return chosen(less(a, b), b, a); }
  float largest() const {
    return std::max(std::max(numbers_[0], numbers_[1]), std::max(numbers_[2], numbers_[3]));
  }

  FourFloats() = default;

 private:
  FourFloats(Numbers numbers) : numbers_(numbers) {}
#if defined(__GNUC__)
  Mask bits() const { return reinterpret_cast<Mask>(numbers_); }
#else
  template <class Of>
  static FourFloats each(const Of& of) {
    return {Numbers{{of(0), of(1), of(2), of(3)}}};
  }
#endif

  Numbers numbers_;
};

}  // namespace pc
