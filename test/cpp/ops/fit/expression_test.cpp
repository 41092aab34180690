#include "ops/fit/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"

namespace pc {
namespace {

using Op = ExpressionOp;

std::uint32_t code(Op op, std::uint32_t argument = 0) {
  return static_cast<std::uint32_t>(op) + 256 * argument;
}
std::uint32_t symbol(std::uint32_t index) { return code(Op::kSymbol, index); }

struct Result {
  double value;
  std::vector<double> derivatives;
};

/// One row; every symbol is a scalar.
Result evaluated(const std::vector<std::uint32_t>& program, const std::vector<double>& symbols,
                 const std::vector<double>& constants = {}) {
  const Expression expression({program, constants, symbols.size()}, symbols.size());
  std::vector<SymbolValues> values;
  for (const double& value : symbols) values.push_back({&value, false});
  std::vector<double> workspace(expression.workspace_size());
  Result out{0, std::vector<double>(symbols.size())};
  expression.evaluate({values.data(), values.size()}, 0, 1, &out.value, out.derivatives.data(), 1,
                      workspace.data());
  return out;
}

void expect_derivatives(const std::vector<std::uint32_t>& program, std::vector<double> at) {
  const Result exact = evaluated(program, at);
  for (std::size_t j = 0; j < at.size(); ++j) {
    const double h = 1e-5 * std::max(1.0, std::abs(at[j]));
    std::vector<double> up = at, down = at;
    up[j] += h;
    down[j] -= h;
    const double numeric =
        (evaluated(program, up).value - evaluated(program, down).value) / (up[j] - down[j]);
    EXPECT_NEAR(exact.derivatives[j], numeric, 1e-7 * std::max(1.0, std::abs(numeric)))
        << "operation " << program.back() << ", symbol " << j;
  }
}

TEST(Expression, EveryFunctionHasItsValueAndDerivative) {
  const struct {
    Op op;
    double (*function)(double);
    std::vector<double> at;
  } cases[]{{Op::kNegative, [](double x) { return -x; }, {-2, 3}},
            {Op::kSqrt, std::sqrt, {0.25, 2, 9}},
            {Op::kExp, std::exp, {-3, 0, 2}},
            {Op::kLog, std::log, {0.1, 1, 20}},
            {Op::kLog10, std::log10, {0.1, 1, 20}},
            {Op::kSin, std::sin, {-4, 0, 1}},
            {Op::kCos, std::cos, {-4, 0, 1}},
            {Op::kTan, std::tan, {-1, 0, 1.2}},
            {Op::kAsin, std::asin, {-0.9, 0, 0.5}},
            {Op::kAcos, std::acos, {-0.9, 0, 0.5}},
            {Op::kAtan, std::atan, {-9, 0, 0.5}},
            {Op::kSinh, std::sinh, {-2, 0, 2}},
            {Op::kCosh, std::cosh, {-2, 0, 2}},
            {Op::kTanh, std::tanh, {-2, 0, 2}},
            {Op::kAbs, std::abs, {-2, 3}}};
  for (const auto& [op, function, at] : cases) {
    for (const double x : at) {
      EXPECT_EQ(evaluated({symbol(0), code(op)}, {x}).value, function(x)) << static_cast<int>(op);
      expect_derivatives({symbol(0), code(op)}, {x});
    }
  }
}

TEST(Expression, EveryFunctionOfTwoHasItsValueAndDerivatives) {
  const struct {
    Op op;
    double (*function)(double, double);
  } cases[]{{Op::kAdd, [](double x, double y) { return x + y; }},
            {Op::kSubtract, [](double x, double y) { return x - y; }},
            {Op::kMultiply, [](double x, double y) { return x * y; }},
            {Op::kDivide, [](double x, double y) { return x / y; }},
            {Op::kPower, [](double x, double y) { return std::pow(x, y); }},
            {Op::kMin, [](double x, double y) { return std::min(x, y); }},
            {Op::kMax, [](double x, double y) { return std::max(x, y); }}};
  for (const auto& [op, function] : cases) {
    for (const auto& [x, y] : {std::pair{2.0, 3.0}, {0.7, -1.5}, {5.0, 0.25}}) {
      EXPECT_EQ(evaluated({symbol(0), symbol(1), code(op)}, {x, y}).value, function(x, y));
      expect_derivatives({symbol(0), symbol(1), code(op)}, {x, y});
      expect_derivatives({symbol(0), symbol(0), code(op), symbol(1), code(Op::kAdd)}, {x, y});
    }
  }
}

TEST(Expression, ProductsOfEverythingByTheChainRule) {
  // exp(-a x) * sin(b / x) ** 2 + a ** b
  const std::vector<std::uint32_t> program{
      symbol(0),      symbol(2), code(Op::kMultiply), code(Op::kNegative),
      code(Op::kExp), symbol(1), symbol(2),           code(Op::kDivide),
      code(Op::kSin), symbol(3), code(Op::kPower),    code(Op::kMultiply),
      symbol(0),      symbol(1), code(Op::kPower),    code(Op::kAdd)};
  for (std::uint64_t i = 0; i < 50; ++i)
    expect_derivatives(program, {0.2 + random_unit(1, 3 * i), 0.3 + random_unit(1, 3 * i + 1),
                                 0.5 + random_unit(1, 3 * i + 2), 2});
}

TEST(Expression, DerivativesWhereAFunctionHasNone) {
  const auto zero_power = evaluated({symbol(0), symbol(1), code(Op::kPower)}, {0, 2.5});
  EXPECT_EQ(zero_power.value, 0);
  EXPECT_EQ(zero_power.derivatives, (std::vector<double>{0, 0}));
  EXPECT_EQ(evaluated({symbol(0), code(Op::kAbs)}, {0}).derivatives[0], 0);
  EXPECT_EQ(evaluated({symbol(0), symbol(1), code(Op::kMin)}, {2, 2}).derivatives,
            (std::vector<double>{1, 0}));
  EXPECT_TRUE(std::isnan(evaluated({symbol(0), symbol(1), code(Op::kMax)}, {std::nan(""), 2}).value));
  // sqrt(x) at 0, where x does not depend on the symbol: 0, not 0 * infinity.
  const double x = 0, k = 3;
  const Expression root({{symbol(1), code(Op::kSqrt), symbol(0), code(Op::kMultiply)}, {}, 2}, 1);
  const SymbolValues values[]{{&k, false}, {&x, true}};
  std::vector<double> workspace(root.workspace_size());
  double value = 1, derivative = 1;
  root.evaluate({values, 2}, 0, 1, &value, &derivative, 1, workspace.data());
  EXPECT_EQ(value, 0);
  EXPECT_EQ(derivative, 0);
}

TEST(Expression, RowsAndStride) {
  std::vector<double> x(Expression::kBlock + 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const double k = 2;
  const Expression line({{symbol(0), symbol(1), code(Op::kMultiply)}, {}, 2}, 1);
  const SymbolValues values[]{{&k, false}, {x.data(), true}};
  std::vector<double> workspace(line.workspace_size()), value(5), derivative(5);
  line.evaluate({values, 2}, Expression::kBlock, 5, value.data(), derivative.data(), 5, workspace.data());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(value[i], 2.0 * static_cast<double>(Expression::kBlock + i));
    EXPECT_EQ(derivative[i], static_cast<double>(Expression::kBlock + i));
  }
  EXPECT_TRUE(line.depends_on(0));
}

TEST(Expression, HostileProgramsAreRefused) {
  const auto refused = [](const std::vector<std::uint32_t>& program, std::size_t directions = 1) {
    EXPECT_THROW(Expression({program, {1.5}, 2}, directions), Error) << program.size();
  };
  refused({});
  refused({code(Op::kAdd)});
  refused({symbol(0), code(Op::kAdd)});
  refused({symbol(0), symbol(1)});           // two values at the end
  refused({symbol(2)});                      // no such symbol
  refused({code(Op::kConstant, 1)});         // no such constant
  refused({symbol(0), kExpressionOpCount});  // no such operation
  refused({symbol(0), 0xff});
  refused({symbol(0), code(Op::kExp, 7)});  // an argument that is not taken
  refused({symbol(0xffffff)});
  refused({symbol(0)}, 3);  // more directions than symbols
  refused(std::vector<std::uint32_t>(Expression::kMaxLength + 1, symbol(0)));
  refused(std::vector<std::uint32_t>(Expression::kMaxDepth + 1, symbol(0)));
  std::vector<std::uint32_t> deepest(Expression::kMaxDepth, symbol(0));
  deepest.insert(deepest.end(), Expression::kMaxDepth - 1, code(Op::kAdd));
  EXPECT_NO_THROW(Expression({deepest, {}, 2}, 1));
  for (std::uint64_t i = 0; i < 20'000; ++i) {  // never reads outside its lists, whatever the program
    std::vector<std::uint32_t> program;
    for (std::uint64_t j = 0; j < 1 + i % 12; ++j) {
      const std::uint64_t bits = random_u64(7, 16 * i + j);
      program.push_back(static_cast<std::uint32_t>(bits % 27 + 256 * (bits >> 32 & 3) * (bits >> 40 & 1)));
    }
    try {
      const Expression expression({program, {1.5}, 2}, 2);
      const double values[]{0.5, 2};
      const SymbolValues symbols[]{{values, false}, {values + 1, false}};
      std::vector<double> workspace(expression.workspace_size());
      double value, derivatives[2];
      expression.evaluate({symbols, 2}, 0, 1, &value, derivatives, 1, workspace.data());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace pc
