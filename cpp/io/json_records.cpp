#include "io/json_records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "core/column.h"

namespace pc::io {

namespace {

using FieldKind = RecordField::Kind;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostUnknown = 16;
constexpr std::size_t kMostWrongBytes = std::size_t{1} << 16;
constexpr double kMostWhole = 9007199254740991.0;  // 2^53 - 1: beyond it, neighbours are the same double

/// Numbers whose count is not known before.
class Blocks {
 public:
  void put(double value) {
    if (blocks_.empty() || blocks_.back().size() == kBlock) {
      blocks_.emplace_back();
      blocks_.back().reserve(blocks_.size() == 1 ? 64 : kBlock);
    }
    blocks_.back().push_back(value);
    ++count_;
  }
  /// All of them; frees the blocks one by one.
  AnyColumn finish() {
    Column<double> out(count_);
    std::size_t next = 0;
    for (; !blocks_.empty(); blocks_.pop_front()) {
      std::copy(blocks_.front().begin(), blocks_.front().end(), out.view().begin() + next);
      next += blocks_.front().size();
    }
    return AnyColumn(std::move(out));
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::deque<std::vector<double>> blocks_;
  std::size_t count_ = 0;
};

class RecordReader {
 public:
  RecordReader(JsonWalker& walker, const std::vector<RecordField>& fields)
      : walker_(walker), lexer_(walker.lexer()), fields_(fields), slots_(fields.size()) {
    std::size_t width = 0;
    const auto place = [&](bool lists) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if ((fields[i].kind == FieldKind::kNumbers) != lists) continue;
        slots_[i].column = width;
        width += fields[i].kind == FieldKind::kPoint ? 3 : 1;
      }
    };
    place(false);
    place(true);
    row_.resize(width);
  }

  JsonList read(std::uint32_t depth) {
    const std::uint32_t inner = walker_.deeper(depth);
    JsonList out;
    out.length = walker_.elements([&] { element(inner); });
    out.valid = !wrong_;
    out.wrong_index = wrong_index_;
    out.wrong_text = std::move(wrong_text_);
    out.unknown = std::move(unknown_);
    if (!out.valid) return out;
    out.column = table_.finish();
    out.items = items_.finish();
    return out;
  }

 private:
  /// What is known of a field in the object being read.
  struct Slot {
    std::size_t column = 0;
    bool given = false;
    std::vector<double> items;
  };

  void element(std::uint32_t depth) {
    const char* const start = lexer_.at();
    const bool was_wrong = wrong_;
    record(depth);
    const auto length = static_cast<std::size_t>(lexer_.at() - start);
    if (wrong_ && !was_wrong) {
      wrong_index_ = index_;
      if (length <= kMostWrongBytes) wrong_text_.assign(start, length);
    }
    ++index_;
  }

  void record(std::uint32_t depth) {
    if (lexer_.peek() != '{') {
      wrong_ = true;
      return walker_.skip(depth);
    }
    for (Slot& slot : slots_) {
      slot.given = false;
      slot.items.clear();
    }
    walker_.members(depth, false, [&](const std::string& key, std::uint32_t inner) { member(key, inner); });
    finish_record();
  }

  void finish_record() {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const RecordField& field = fields_[i];
      Slot& slot = slots_[i];
      if (!slot.given && !field.fallback) wrong_ = true;
      if (field.kind == FieldKind::kNumbers) {
        row_[slot.column] = static_cast<double>(slot.items.size());
      } else if (!slot.given) {
        row_[slot.column] = field.fallback.value_or(kNone);
      }
    }
    if (wrong_) return;
    for (const double value : row_) table_.put(value);
    for (const Slot& slot : slots_)
      for (const double value : slot.items) items_.put(value);
  }

  void member(const std::string& key, std::uint32_t depth) {
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const RecordField& field) { return field.name == key; });
    if (found == fields_.end()) {
      note_unknown(key);
      return walker_.skip(depth, key == "constructor");
    }
    Slot& slot = slots_[static_cast<std::size_t>(found - fields_.begin())];
    slot.given = true;
    slot.items.clear();
    switch (found->kind) {
      case FieldKind::kNumber:
        row_[slot.column] = number(*found, depth);
        return;
      case FieldKind::kPoint:
        return point(*found, slot.column, depth);
      case FieldKind::kNumbers:
        return list(*found, slot.items, depth);
    }
  }

  void note_unknown(const std::string& key) {
    if (unknown_names_.size() >= kMostUnknown) return;
    if (std::find(unknown_names_.begin(), unknown_names_.end(), key) != unknown_names_.end()) return;
    unknown_names_.push_back(key);
    unknown_.push_back("[" + std::to_string(index_) + "]." + key);
  }

  bool at_number() const {
    const char c = lexer_.peek();
    return c == '-' || (c >= '0' && c <= '9');
  }

  double number(const RecordField& field, std::uint32_t depth) {
    if (field.nullable && lexer_.take_word("null")) return kNone;
    if (!at_number()) {
      wrong_ = true;
      walker_.skip(depth);
      return kNone;
    }
    const double value = lexer_.read_number();
    const bool fits = std::isfinite(value) && (field.above_min ? value > field.min : value >= field.min) &&
                      value <= field.max &&
                      (!field.whole || (value == std::trunc(value) && std::abs(value) <= kMostWhole));
    if (!fits) wrong_ = true;
    return value;
  }

  void point(const RecordField& field, std::size_t column, std::uint32_t depth) {
    if (lexer_.peek() != '[') {
      wrong_ = true;
      return walker_.skip(depth);
    }
    const std::uint32_t inner = walker_.deeper(depth);
    std::size_t given = 0;
    walker_.elements([&] {
      const double value = number(field, inner);
      if (given < 3) row_[column + given] = value;
      ++given;
    });
    if (given != 3) wrong_ = true;
  }

  void list(const RecordField& field, std::vector<double>& out, std::uint32_t depth) {
    if (lexer_.peek() != '[') {
      wrong_ = true;
      return walker_.skip(depth);
    }
    const std::uint32_t inner = walker_.deeper(depth);
    walker_.elements([&] { out.push_back(number(field, inner)); });
  }

  JsonWalker& walker_;
  JsonLexer& lexer_;
  const std::vector<RecordField>& fields_;
  std::vector<Slot> slots_;
  std::vector<double> row_;
  Blocks table_;
  Blocks items_;
  std::uint64_t index_ = 0;
  bool wrong_ = false;  ///< of any record so far
  std::uint64_t wrong_index_ = 0;
  std::string wrong_text_;
  std::vector<std::string> unknown_;
  std::vector<std::string> unknown_names_;
};

}  // namespace

JsonList read_json_records(JsonWalker& walker, const std::vector<RecordField>& fields, std::uint32_t depth) {
  return RecordReader(walker, fields).read(depth);
}

}  // namespace pc::io
