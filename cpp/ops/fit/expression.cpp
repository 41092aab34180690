#include "ops/fit/expression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/error.h"

namespace pc {

namespace {

constexpr double kLn10 = 2.302585092994045684;

std::size_t operand_count(ExpressionOp op) {
  if (op == ExpressionOp::kConstant || op == ExpressionOp::kSymbol) return 0;
  return op >= ExpressionOp::kAdd && op <= ExpressionOp::kMax ? 2 : 1;
}

ExpressionOp op_of(std::uint32_t code) { return static_cast<ExpressionOp>(code & 0xff); }
std::size_t argument_of(std::uint32_t code) { return code >> 8; }

/// Calls body(j) for every symbol of a mask.
template <class Body>
void for_each_direction(std::uint64_t mask, Body&& body) {
  for (; mask != 0; mask &= mask - 1) body(static_cast<std::size_t>(std::countr_zero(mask)));
}

/// 0 stays 0 where the factor is infinite or not defined.
double chain(double factor, double derivative) { return derivative == 0 ? 0 : factor * derivative; }

/// One function: value and derivative.
struct Value {
  double value, slope;
};

Value apply(ExpressionOp op, double x) {
  switch (op) {
    case ExpressionOp::kSqrt: {
      const double root = std::sqrt(x);
      return {root, 0.5 / root};
    }
    case ExpressionOp::kExp: {
      const double value = std::exp(x);
      return {value, value};
    }
    case ExpressionOp::kLog:
      return {std::log(x), 1 / x};
    case ExpressionOp::kLog10:
      return {std::log10(x), 1 / (x * kLn10)};
    case ExpressionOp::kSin:
      return {std::sin(x), std::cos(x)};
    case ExpressionOp::kCos:
      return {std::cos(x), -std::sin(x)};
    case ExpressionOp::kTan: {
      const double value = std::tan(x);
      return {value, 1 + value * value};
    }
    case ExpressionOp::kAsin:
      return {std::asin(x), 1 / std::sqrt((1 - x) * (1 + x))};
    case ExpressionOp::kAcos:
      return {std::acos(x), -1 / std::sqrt((1 - x) * (1 + x))};
    case ExpressionOp::kAtan:
      return {std::atan(x), 1 / (1 + x * x)};
    case ExpressionOp::kSinh:
      return {std::sinh(x), std::cosh(x)};
    case ExpressionOp::kCosh:
      return {std::cosh(x), std::sinh(x)};
    case ExpressionOp::kTanh: {
      const double cosh = std::cosh(x);
      return {std::tanh(x), 1 / (cosh * cosh)};
    }
    case ExpressionOp::kAbs:
      return {std::abs(x), x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0};
    default:
      return {-x, -1};
  }
}

/// A stack slot: values, then the derivatives by each symbol.
struct Slot {
  double* data;
  double* value() const { return data; }
  double* derivative(std::size_t j) const { return data + Expression::kBlock * (1 + j); }
};

void apply_function(ExpressionOp op, Slot a, std::uint64_t mask, std::size_t count) {
  double slope[Expression::kBlock];
  for (std::size_t i = 0; i < count; ++i) {
    const Value at = apply(op, a.value()[i]);
    a.value()[i] = at.value;
    slope[i] = at.slope;
  }
  for_each_direction(mask, [&](std::size_t j) {
    double* d = a.derivative(j);
    for (std::size_t i = 0; i < count; ++i) d[i] = chain(slope[i], d[i]);
  });
}

/// A function of two values: value and both derivatives.
struct PairValue {
  double value, by_first, by_second;
};

/// Which derivatives are wanted.
struct Wanted {
  bool by_first, by_second;
};

PairValue power(double x, double y, Wanted wanted) {
  const bool undefined = std::abs(x) == 1 && !std::isfinite(y);  // pow says 1
  const double value = undefined ? std::nan("") : std::pow(x, y);
  return {value, wanted.by_first && y != 0 ? y * std::pow(x, y - 1) : 0,
          wanted.by_second && x != 0 ? value * std::log(x) : 0};
}

PairValue apply(ExpressionOp op, double x, double y, Wanted wanted) {
  switch (op) {
    case ExpressionOp::kAdd:
      return {x + y, 1, 1};
    case ExpressionOp::kSubtract:
      return {x - y, 1, -1};
    case ExpressionOp::kMultiply:
      return {x * y, y, x};
    case ExpressionOp::kDivide:
      return {x / y, 1 / y, -(x / y) / y};
    case ExpressionOp::kPower:
      return power(x, y, wanted);
    default:
      break;
  }
  if (std::isnan(x) || std::isnan(y)) return {std::nan(""), 0, 0};
  const bool first = op == ExpressionOp::kMin ? x <= y : x >= y;
  return first ? PairValue{x, 1, 0} : PairValue{y, 0, 1};
}

void apply_pair(ExpressionOp op, Slot a, Slot b, std::uint64_t of_a, std::uint64_t of_b, std::size_t count) {
  double by_a[Expression::kBlock], by_b[Expression::kBlock];
  const Wanted wanted{of_a != 0, of_b != 0};
  for (std::size_t i = 0; i < count; ++i) {
    const PairValue at = apply(op, a.value()[i], b.value()[i], wanted);
    a.value()[i] = at.value;
    by_a[i] = at.by_first;
    by_b[i] = at.by_second;
  }
  for_each_direction(of_a & of_b, [&](std::size_t j) {
    double *d = a.derivative(j), *e = b.derivative(j);
    for (std::size_t i = 0; i < count; ++i) d[i] = chain(by_a[i], d[i]) + chain(by_b[i], e[i]);
  });
  for_each_direction(of_a & ~of_b, [&](std::size_t j) {
    double* d = a.derivative(j);
    for (std::size_t i = 0; i < count; ++i) d[i] = chain(by_a[i], d[i]);
  });
  for_each_direction(of_b & ~of_a, [&](std::size_t j) {
    double *d = a.derivative(j), *e = b.derivative(j);
    for (std::size_t i = 0; i < count; ++i) d[i] = chain(by_b[i], e[i]);
  });
}

void load(const SymbolValues& symbol, Slot a, std::size_t first, std::size_t count) {
  if (symbol.per_row)
    std::copy_n(symbol.values + first, count, a.value());
  else
    std::fill_n(a.value(), count, symbol.values[0]);
}

}  // namespace

Expression::Expression(ExpressionProgram program, std::size_t direction_count)
    : program_(std::move(program)), directions_(direction_count) {
  require(!program_.code.empty() && program_.code.size() <= kMaxLength,
          "a program has 1 to 100000 operations");
  require(directions_ <= kMaxDirections && directions_ <= program_.symbol_count,
          "derivatives are taken by at most 64 of the symbols");
  masks_.reserve(program_.code.size());
  std::vector<std::uint64_t> stack;
  for (const std::uint32_t code : program_.code) append_masks(code, stack);
  require(stack.size() == 1, "a program must leave one value");
}

/// Does to the masks on the stack what the operation does to its values, and stores them.
void Expression::append_masks(std::uint32_t code, std::vector<std::uint64_t>& stack) {
  require((code & 0xff) < kExpressionOpCount, "a program has an unknown operation");
  const ExpressionOp op = op_of(code);
  const std::size_t argument = argument_of(code), operands = operand_count(op);
  require(stack.size() >= operands, "an operation of a program lacks an operand");
  std::uint64_t first = 0, second = 0;
  if (op == ExpressionOp::kConstant) {
    require(argument < program_.constants.size(), "a program uses a constant that it does not have");
  } else if (op == ExpressionOp::kSymbol) {
    require(argument < program_.symbol_count, "a program uses a symbol that it does not have");
    if (argument < directions_) first = std::uint64_t{1} << argument;
  } else {
    require(argument == 0, "an operation of a program has an argument that it does not take");
  }
  if (operands == 2) {
    second = stack.back();
    stack.pop_back();
  }
  if (operands > 0) {
    first = stack.back();
    stack.pop_back();
  }
  stack.push_back(first | second);
  require(stack.size() <= kMaxDepth, "a program needs more than 1000 values on its stack");
  depth_ = std::max(depth_, stack.size());
  masks_.push_back({first, second});
}

void Expression::evaluate(Span<const SymbolValues> symbols, std::size_t first, std::size_t count,
                          double* values, double* derivatives, std::size_t stride, double* workspace) const {
  const auto slot = [&](std::size_t at) { return Slot{workspace + at * slot_size()}; };
  const std::uint64_t wanted = derivatives ? ~std::uint64_t{0} : 0;
  std::size_t top = 0;  // values on the stack
  for (std::size_t at = 0; at < program_.code.size(); ++at) {
    const ExpressionOp op = op_of(program_.code[at]);
    const std::size_t argument = argument_of(program_.code[at]);
    const std::uint64_t of_first = masks_[at].first & wanted, of_second = masks_[at].second & wanted;
    if (op == ExpressionOp::kConstant) {
      std::fill_n(slot(top++).value(), count, program_.constants[argument]);
    } else if (op == ExpressionOp::kSymbol) {
      load(symbols[argument], slot(top), first, count);
      if (of_first != 0) std::fill_n(slot(top).derivative(argument), count, 1.0);
      ++top;
    } else if (operand_count(op) == 2) {
      --top;
      apply_pair(op, slot(top - 1), slot(top), of_first, of_second, count);
    } else {
      apply_function(op, slot(top - 1), of_first, count);
    }
  }
  std::copy_n(slot(0).value(), count, values);
  if (!derivatives) return;
  for (std::size_t j = 0; j < directions_; ++j) {
    if (depends_on(j))
      std::copy_n(slot(0).derivative(j), count, derivatives + j * stride);
    else
      std::fill_n(derivatives + j * stride, count, 0.0);
  }
}

}  // namespace pc
