#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/record_table.h"
#include "io/record_text.h"

namespace pc::io {

/// Why a text row could not be read.
enum class RowFault : std::uint8_t { kNone, kTooFew, kBadValue, kBadList };

struct RowOutcome {
  RowFault fault = RowFault::kNone;
  bool surplus = false;       ///< more values than declared
  bool missing_list = false;  ///< the row ends before a list that is declared last
  std::size_t token = 0;      ///< 0-based index of the value at fault
  const char* first = nullptr;
  const char* last = nullptr;  ///< text at fault
};

/// Parses text rows to native records in which field f is at offsets()[f].
class RecordRowParser {
 public:
  RecordRowParser(std::vector<TextToken> tokens, const std::vector<TableField>& fields);

  std::size_t record_bytes() const { return record_bytes_; }
  const std::vector<std::size_t>& offsets() const { return offsets_; }

  RowOutcome parse(const char* p, const char* end, std::byte* record) const;
  /// Fills a record such that TableBuilder::finish drops it.
  void blank_out(std::byte* record) const;
  /// Describes the problem for the user.
  std::string describe(const RowOutcome& outcome, std::uint64_t line) const;

 private:
  struct Step {
    DType type;  ///< type in the record
    bool is_list;
    bool packed_color;
    bool from_float;
    std::size_t offset;
  };
  static bool store(const Step& step, const char* first, const char* last, std::byte* to);

  std::vector<TextToken> tokens_;
  std::vector<TableField> fields_;
  std::vector<Step> steps_;
  std::vector<std::size_t> offsets_;
  std::size_t record_bytes_ = 0;
  std::size_t x_offset_ = 0;
};

}  // namespace pc::io
