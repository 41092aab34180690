#include "ops/qsm/branch_system.h"

#include <cmath>
#include <utility>

namespace pc {

namespace {

void add(std::vector<double>& to, const std::vector<double>& values) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += values[i];
}

/// The lower factor of a symmetric matrix, in its place. False unless it is positive definite.
bool factor(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[n * i + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[n * i + k] * a[n * j + k];
      if (i == j) {
        if (!(sum > 0) || !std::isfinite(sum)) return false;
        a[n * i + i] = std::sqrt(sum);
      } else {
        a[n * i + j] = sum / a[n * j + j];
      }
    }
  }
  return true;
}

/// Solves L L^T x = b for `columns` right-hand sides, row by row, in their place.
void solve_factored(const std::vector<double>& l, std::size_t n, std::vector<double>& b,
                    std::size_t columns) {
  const auto subtract = [&](std::size_t i, std::size_t k, double times) {
    if (times == 0) return;
    for (std::size_t c = 0; c < columns; ++c) b[columns * i + c] -= times * b[columns * k + c];
  };
  const auto divide = [&](std::size_t i) {
    for (std::size_t c = 0; c < columns; ++c) b[columns * i + c] /= l[n * i + i];
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) subtract(i, k, l[n * i + k]);
    divide(i);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) subtract(i, k, l[n * k + i]);
    divide(i);
  }
}

}  // namespace

void BranchSystem::Terms::clear(std::size_t size) {
  for (std::vector<double>* block : {&own, &across, &parent}) block->assign(size * size, 0);
  for (std::vector<double>* side : {&own_side, &parent_side}) side->assign(size, 0);
}

BranchSystem::BranchSystem(std::vector<std::uint32_t> parent, std::size_t size)
    : parent_(std::move(parent)),
      size_(size),
      pending_(parent_.size()),
      follows_(parent_.size()),
      still_(parent_.size()) {}

bool BranchSystem::eliminate(std::uint32_t node, Terms& terms) {
  Pending mine = std::exchange(pending_[node], Pending());
  if (!mine.own.empty()) {
    add(terms.own, mine.own);
    add(terms.own_side, mine.side);
  }
  if (!factor(terms.own, size_)) return false;
  solve_factored(terms.own, size_, terms.own_side, 1);
  still_[node] = terms.own_side;
  const std::uint32_t up = parent_[node];
  if (up == node) return true;
  const std::vector<double> across = terms.across;
  solve_factored(terms.own, size_, terms.across, size_);
  for (std::size_t k = 0; k < size_; ++k) {
    for (std::size_t i = 0; i < size_; ++i) {
      const double times = across[size_ * k + i];
      if (times == 0) continue;
      terms.parent_side[i] -= times * still_[node][k];
      for (std::size_t j = 0; j < size_; ++j)
        terms.parent[size_ * i + j] -= times * terms.across[size_ * k + j];
    }
  }
  follows_[node] = terms.across;
  Pending& above = pending_[up];
  if (above.own.empty()) above = {std::vector<double>(size_ * size_, 0), std::vector<double>(size_, 0)};
  add(above.own, terms.parent);
  add(above.side, terms.parent_side);
  return true;
}

std::vector<double> BranchSystem::solve() const {
  std::vector<double> x(parent_.size() * size_);
  for (std::size_t node = 0; node < parent_.size(); ++node) {
    const std::size_t up = parent_[node];
    for (std::size_t i = 0; i < size_; ++i) {
      double value = still_[node][i];
      if (up != node)
        for (std::size_t j = 0; j < size_; ++j) value -= follows_[node][size_ * i + j] * x[up * size_ + j];
      x[node * size_ + i] = value;
    }
  }
  return x;
}

}  // namespace pc
