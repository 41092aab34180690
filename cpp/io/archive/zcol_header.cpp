#include "io/archive/zcol_header.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "core/error.h"
#include "io/decimal.h"
#include "io/json_lexer.h"

namespace pc::io {

namespace {

constexpr char kTag[] = {'Z', 'C', 'O', 'L', '\x01', '\n'};

struct TypeString {
  const char* name;
  DType dtype;
};
constexpr TypeString kTypes[] = {
    {"|u1", DType::kU8},  {"|b1", DType::kU8},  {"|i1", DType::kI8},  {"<u2", DType::kU16},
    {"<i2", DType::kI16}, {"<u4", DType::kU32}, {"<i4", DType::kI32}, {"<u8", DType::kU64},
    {"<i8", DType::kI64}, {"<f4", DType::kF32}, {"<f8", DType::kF64},
};

[[noreturn]] void refuse_header(const std::string& why) {
  throw Error(ErrorCode::kInvalidFile, "damaged column header: " + why);
}

std::string type_string(DType dtype, bool is_bool) {
  if (is_bool) return "|b1";
  if (dtype == DType::kVec3d) return "<f8";
  if (dtype == DType::kRgb16) return "<u2";
  for (const auto& type : kTypes)
    if (type.dtype == dtype) return type.name;
  throw Error(ErrorCode::kInternal, std::string("no type string for ") + dtype_name(dtype));
}

/// A whole number from `least` to 2^53.
std::uint64_t read_whole(JsonLexer& lexer, double least, const char* what) {
  const double value = lexer.read_number();
  if (!(value >= least && value <= 0x1.0p53) || value != std::floor(value))
    refuse_header(std::string(what) + " is not a whole number in its range");
  return static_cast<std::uint64_t>(value);
}

std::vector<std::uint64_t> read_shape(JsonLexer& lexer) {
  std::vector<std::uint64_t> shape;
  lexer.expect('[', "shape must be a list");
  do {
    lexer.skip_blanks();
    shape.push_back(read_whole(lexer, 0, "shape"));
    lexer.skip_blanks();
    if (shape.size() > 2) refuse_header("shape has more than two axes");
  } while (lexer.take(','));
  lexer.expect(']', "shape must be a list of numbers");
  return shape;
}

ColumnFilter parse_filter(const std::string& name) {
  for (const auto filter : {ColumnFilter::kNone, ColumnFilter::kShuffle, ColumnFilter::kDeltaShuffle})
    if (name == filter_name(filter)) return filter;
  refuse_header("the filter is none of none, shuffle, delta_shuffle");
}

struct Fields {
  std::optional<std::string> dtype, filter;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::uint64_t> block_rows;

  void read(const std::string& key, JsonLexer& lexer) {
    if (key == "dtype" && !dtype) {
      dtype = lexer.read_string();
    } else if (key == "filter" && !filter) {
      filter = lexer.read_string();
    } else if (key == "shape" && !shape) {
      shape = read_shape(lexer);
    } else if (key == "block_rows" && !block_rows) {
      block_rows = read_whole(lexer, 1, "block_rows");
    } else {
      refuse_header("a key is unknown or appears twice");
    }
  }
};

Fields read_fields(JsonLexer& lexer) {
  Fields fields;
  lexer.skip_blanks();
  lexer.expect('{', "an object is expected");
  do {
    lexer.skip_blanks();
    const std::string key = lexer.read_string();
    lexer.skip_blanks();
    lexer.expect(':', "a colon is expected");
    lexer.skip_blanks();
    fields.read(key, lexer);
    lexer.skip_blanks();
  } while (lexer.take(','));
  lexer.expect('}', "a comma or the end of the object is expected");
  lexer.skip_blanks();
  if (!lexer.ended()) refuse_header("text behind the object");
  return fields;
}

}  // namespace

const char* filter_name(ColumnFilter filter) {
  switch (filter) {
    case ColumnFilter::kNone:
      return "none";
    case ColumnFilter::kShuffle:
      return "shuffle";
    case ColumnFilter::kDeltaShuffle:
      return "delta_shuffle";
  }
  return "none";
}

bool has_zcol_tag(const std::byte* bytes) { return std::memcmp(bytes, kTag, sizeof kTag) == 0; }

std::string zcol_header_text(const ZcolHeader& header, bool is_bool) {
  const bool triple = header.dtype == DType::kVec3d || header.dtype == DType::kRgb16;
  const std::string json = R"({"dtype":")" + type_string(header.dtype, is_bool) + R"(","shape":[)" +
                           std::to_string(header.rows) + (triple ? ",3" : "") + R"(],"filter":")" +
                           filter_name(header.filter) + R"(","block_rows":)" +
                           std::to_string(header.block_rows) + "}";
  std::string text(kTag, sizeof kTag);
  for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(json.size() >> shift);
  return text + json;
}

DType column_dtype(const std::string& type, std::uint64_t width) {
  for (const auto& known : kTypes) {
    if (type != known.name) continue;
    if (width == 1) return known.dtype;
    if (width == 3 && known.dtype == DType::kF64) return DType::kVec3d;
    if (width == 3 && known.dtype == DType::kU16) return DType::kRgb16;
    refuse_header("rows of several values are three <f8 or three <u2");
  }
  refuse_header("the type of the values is not one of |b1 |u1 |i1 <u2 <i2 <u4 <i4 <u8 <i8 <f4 <f8");
}

ZcolHeader parse_zcol_header(std::string_view json, OpContext& ctx) {
  std::string padded(json);
  padded.append(kDecimalPadding, '\n');
  Fields fields;
  try {
    JsonLexer lexer(std::string_view(padded).substr(0, json.size()), ctx);
    fields = read_fields(lexer);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    refuse_header(error.what());
  }
  if (!fields.dtype || !fields.filter || !fields.shape || !fields.block_rows)
    refuse_header("a key is missing");
  const auto& shape = *fields.shape;
  const DType dtype = column_dtype(*fields.dtype, shape.size() == 1 ? 1 : shape[1]);
  return {dtype, shape[0], parse_filter(*fields.filter), *fields.block_rows};
}

}  // namespace pc::io
