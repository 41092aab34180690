#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/double_double.h"

namespace pc {

/// Growable list of doubles; the first few need no allocation.
class ShortList {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const double* begin() const { return size_ <= kFew ? few_.data() : many_.data(); }
  const double* end() const { return begin() + size_; }
  double operator[](std::size_t i) const { return begin()[i]; }
  double back() const { return begin()[size_ - 1]; }
  void push_back(double value) {
    if (size_ < kFew) {
      few_[size_] = value;
    } else {
      if (size_ == kFew) many_.assign(few_.begin(), few_.end());
      many_.push_back(value);
    }
    ++size_;
  }

 private:
  static constexpr std::size_t kFew = 16;
  std::array<double, kFew> few_;  // uninitialized beyond size_
  std::vector<double> many_;
  std::size_t size_ = 0;
};

/// A number as the exact sum of doubles that do not overlap, smallest first: sums and products of doubles without
/// rounding. Slow; for the few cases that a rounded computation leaves open.
///
/// Range    Every product of the terms must lie between 1e-290 and 1e290, or be 0.
/// Source   Shewchuk 1997, Discrete & Computational Geometry 18, 305-363: expansions (section 2), their sum
///          (fast-expansion-sum, figure 7) and product with a double (scale-expansion, figure 13), without zero terms.
class Expansion {
 public:
  Expansion() = default;
  Expansion(double value) { push(value); }  // NOLINT: a double is one
  explicit Expansion(const DoubleDouble& value) {
    push(value.low);
    push(value.high);
  }

  int sign() const { return terms_.empty() ? 0 : (terms_.back() > 0) - (terms_.back() < 0); }

  friend Expansion operator+(const Expansion& a, const Expansion& b) {
    if (a.terms_.empty()) return b;
    if (b.terms_.empty()) return a;
    Expansion out;
    std::size_t i = 0, j = 0;
    const auto smallest = [&] {
      const bool of_a =
          j == b.terms_.size() || (i < a.terms_.size() && std::fabs(a.terms_[i]) < std::fabs(b.terms_[j]));
      return of_a ? a.terms_[i++] : b.terms_[j++];
    };
    double carry = smallest();
    while (i < a.terms_.size() || j < b.terms_.size()) {
      const DoubleDouble sum = two_sum(carry, smallest());
      out.push(sum.low);
      carry = sum.high;
    }
    out.push(carry);
    return out;
  }
  friend Expansion operator-(const Expansion& a) {
    Expansion out;
    for (const double term : a.terms_) out.push(-term);
    return out;
  }
  friend Expansion operator-(const Expansion& a, const Expansion& b) { return a + -b; }
  friend Expansion operator*(const Expansion& a, const Expansion& b) {
    if (a.terms_.size() < b.terms_.size()) return b * a;
    Expansion out;
    for (const double factor : b.terms_) out = out + a.scaled(factor);
    return out;
  }

 private:
  void push(double term) {
    if (term != 0) terms_.push_back(term);
  }
  Expansion scaled(double factor) const {
    Expansion out;
    if (terms_.empty()) return out;
    const DoubleDouble first = two_product(terms_[0], factor);
    out.push(first.low);
    double carry = first.high;
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      const DoubleDouble product = two_product(terms_[i], factor);
      const DoubleDouble low = two_sum(carry, product.low);
      const DoubleDouble high = quick_two_sum(product.high, low.high);
      out.push(low.low);
      out.push(high.low);
      carry = high.high;
    }
    out.push(carry);
    return out;
  }

  ShortList terms_;
};

}  // namespace pc
