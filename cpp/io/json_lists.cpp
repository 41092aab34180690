#include "io/json_lists.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/vec3.h"
#include "io/json_records.h"
#include "io/json_walker.h"

namespace pc::io {

namespace {

using Kind = JsonShape::Kind;

/// `rest` would exceed its limit.
struct RestTooLarge {};

bool is_list(Kind kind) {
  return kind == Kind::kPoints || kind == Kind::kNumbers || kind == Kind::kHeights || kind == Kind::kFlags;
}

bool starts_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }

/// Takes the values of a list up to the number counted before; a list that has more is not valid anyway.
template <class T>
class Sink {
 public:
  explicit Sink(std::uint64_t capacity) : column_(static_cast<std::size_t>(capacity)) {}
  void put(const T& value) {
    if (count_ < column_.size()) column_[count_++] = value;
  }
  AnyColumn finish() {
    column_.shrink(count_);
    return AnyColumn(std::move(column_));
  }

 private:
  Column<T> column_;
  std::size_t count_ = 0;
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& token, const JsonLimits& limits, OpContext& ctx)
      : walker_(text, limits.depth, ctx),
        copied_(text.data()),
        token_(token),
        rest_bytes_(limits.rest_bytes) {}

  JsonDocument read(const JsonShape& shape) {
    if (lexer_.take_word("\xef\xbb\xbf")) copied_ = lexer_.at();
    lexer_.skip_blanks();
    if (lexer_.ended()) {
      out_.blank = true;
      return std::move(out_);
    }
    value(shape, 0);
    lexer_.skip_blanks();
    if (!lexer_.ended()) lexer_.fail("something follows the document");
    copy_until(lexer_.at());
    return std::move(out_);
  }

 private:
  void copy_until(const char* end) {
    if (out_.rest.size() + static_cast<std::size_t>(end - copied_) > rest_bytes_) throw RestTooLarge{};
    out_.rest.append(copied_, end);
    copied_ = end;
  }
  /// Replaces the text from `start` to the position.
  void replace(const char* start, const std::string& by) {
    copy_until(start);
    if (out_.rest.size() + by.size() > rest_bytes_) throw RestTooLarge{};
    out_.rest += by;
    copied_ = lexer_.at();
  }
  void value(const JsonShape& shape, std::uint32_t depth) {
    const char next = lexer_.peek();
    if ((shape.kind == Kind::kObject || shape.kind == Kind::kRecord) && next == '{') {
      object(shape, depth);
    } else if (shape.kind == Kind::kArray && next == '[') {
      const std::uint32_t inner = walker_.deeper(depth);
      walker_.elements([&] { value(shape.fields.front().second, inner); });
    } else if (shape.kind == Kind::kText && next == '"') {
      text();
    } else if (shape.kind == Kind::kRecords && next == '[') {
      const char* const start = lexer_.at();
      take_out(start, read_json_records(walker_, shape.columns, depth));
    } else if (is_list(shape.kind) && next == '[') {
      list(shape.kind, depth);
    } else {
      walker_.skip(depth);
    }
  }

  void object(const JsonShape& shape, std::uint32_t depth) {
    walker_.members(depth, false,
                    [&](const std::string& key, std::uint32_t inner) { member(shape, key, inner); });
  }

  void member(const JsonShape& shape, const std::string& key, std::uint32_t depth) {
    if (shape.kind == Kind::kRecord) {
      if (key == "constructor") return walker_.skip(depth, true);
      return value(shape.fields.front().second, depth);
    }
    const auto& fields = shape.fields;
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == key; });
    if (found != fields.end()) return value(found->second, depth);
    const char* const start = lexer_.at();
    walker_.skip(depth, key == "constructor");
    replace(start, "null");
  }

  void list(Kind kind, std::uint32_t depth) {
    const char* const start = lexer_.at();
    JsonList found;
    const std::uint32_t inner = walker_.deeper(depth);
    const std::uint64_t values = count_values();
    valid_ = true;
    if (kind == Kind::kPoints) {
      found = points(values / 3, inner);
    } else if (kind == Kind::kNumbers) {
      found = numbers(values, inner);
    } else if (kind == Kind::kHeights) {
      found = heights(values, inner);
    } else {
      found = flags(values, inner);
    }
    found.valid = valid_;
    if (!valid_) found.column = AnyColumn();
    take_out(start, std::move(found));
  }

  void text() {
    const char* const start = lexer_.at();
    Column<std::uint8_t> bytes(static_cast<std::size_t>(lexer_.string_bytes()));
    std::size_t length = 0;
    lexer_.read_string_to([&](std::string_view piece) {
      std::copy(piece.begin(), piece.end(), bytes.view().begin() + length);
      length += piece.size();
    });
    bytes.shrink(length);
    take_out(start, {length, true, AnyColumn(std::move(bytes))});
  }

  /// Keeps the value that starts at `start` outside of the document.
  void take_out(const char* start, JsonList&& found) {
    replace(start, '"' + token_ + std::to_string(out_.lists.size()) + '"');
    out_.lists.push_back(std::move(found));
  }

  std::uint64_t count_values() {
    JsonLexer ahead = lexer_;
    ahead.expect('[', "a list is expected");
    return ahead.commas_in_list() + 1;
  }

  void refuse_element(std::uint32_t depth) {
    valid_ = false;
    walker_.skip(depth);
  }

  /// The number at the position; NaN if there is something else or it is infinite: the list is not valid then.
  double finite_number(std::uint32_t depth) {
    if (!starts_number(lexer_.peek())) {
      refuse_element(depth);
      return std::numeric_limits<double>::quiet_NaN();
    }
    const double value = lexer_.read_number();
    if (!std::isfinite(value)) valid_ = false;
    return value;
  }

  JsonList points(std::uint64_t capacity, std::uint32_t depth) {
    Sink<Vec3d> out(capacity);
    const std::uint64_t length = walker_.elements([&] {
      if (lexer_.peek() != '[') return refuse_element(depth);
      std::array<double, 3> xyz{};
      std::size_t given = 0;
      const std::uint32_t inner = walker_.deeper(depth);
      walker_.elements([&] {
        const double value = finite_number(inner);
        if (given < 3) xyz[given] = value;
        ++given;
      });
      if (given != 3) valid_ = false;
      out.put({xyz[0], xyz[1], xyz[2]});
    });
    return {length, valid_, out.finish()};
  }

  JsonList numbers(std::uint64_t capacity, std::uint32_t depth) {
    Sink<double> out(capacity);
    const std::uint64_t length = walker_.elements([&] { out.put(finite_number(depth)); });
    return {length, valid_, out.finish()};
  }

  /// The first element decides whether this is a list of heights or of rows.
  JsonList heights(std::uint64_t capacity, std::uint32_t depth) {
    Sink<double> out(capacity);
    std::optional<bool> rows;
    const auto height = [&](std::uint32_t at) {
      out.put(lexer_.take_word("null") ? std::numeric_limits<double>::quiet_NaN() : finite_number(at));
    };
    const std::uint64_t length = walker_.elements([&] {
      const bool is_row = lexer_.peek() == '[';
      if (!rows) rows = is_row;
      if (is_row != *rows) return refuse_element(depth);
      if (!is_row) return height(depth);
      const std::uint32_t inner = walker_.deeper(depth);
      walker_.elements([&] { height(inner); });
    });
    return {length, valid_, out.finish()};
  }

  JsonList flags(std::uint64_t capacity, std::uint32_t depth) {
    Sink<std::uint8_t> out(capacity);
    const std::uint64_t length = walker_.elements([&] {
      if (lexer_.take_word("true")) {
        out.put(1);
      } else if (lexer_.take_word("false")) {
        out.put(0);
      } else {
        refuse_element(depth);
      }
    });
    return {length, valid_, out.finish()};
  }

  JsonWalker walker_;
  JsonLexer& lexer_ = walker_.lexer();
  const char* copied_;  ///< up to here the text is in `rest`
  const std::string& token_;
  std::size_t rest_bytes_;
  JsonDocument out_;
  bool valid_ = true;  ///< of the list being read
};

}  // namespace

JsonDocument read_json_lists(std::string_view text, const JsonShape& shape, const std::string& token,
                             const JsonLimits& limits, OpContext& ctx) {
  ctx.begin_phase("Reading the request", text.size());
  try {
    return Reader(text, token, limits, ctx).read(shape);
  } catch (const RestTooLarge&) {
    JsonDocument refused;
    refused.too_large = true;
    return refused;
  }
}

}  // namespace pc::io
