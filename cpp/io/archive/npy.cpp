#include "io/archive/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deflate.h"
#include "core/error.h"
#include "core/platform.h"

namespace pc::io {

namespace {

constexpr char kMagic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', '\x01', '\x00'};
constexpr std::size_t kPrefix = sizeof kMagic + 2;
constexpr std::size_t kRead = std::size_t{8} << 20;

[[noreturn]] void damaged(const std::string& why) {
  throw Error(ErrorCode::kInvalidFile, "damaged array: " + why);
}

/// The dictionary of a header: string keys, and as values a string, True or False, or a tuple of whole numbers.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  void read() {
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      value(key);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    blanks();
    if (!rest_.empty()) damaged("text behind its header");
    if (!descr || !fortran || !shape) damaged("a key of its header is missing");
  }

  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;

 private:
  void blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    blanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) damaged(std::string("its header lacks '") + c + "'");
  }
  bool take_word(std::string_view word) {
    blanks();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string string() {
    blanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) damaged("its header lacks a string");
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) damaged("a string of its header does not end");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> numbers;
    expect('(');
    while (!take(')')) {
      blanks();
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc() || numbers.size() == 2) damaged("its shape");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      numbers.push_back(number);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }
  void value(const std::string& key) {
    if (key == "descr" && !descr) {
      descr = string();
    } else if (key == "shape" && !shape) {
      shape = tuple();
    } else if (key == "fortran_order" && !fortran) {
      fortran = take_word("True");
      if (!*fortran && !take_word("False")) damaged("its order is neither True nor False");
    } else {
      damaged("a key of its header is unknown or appears twice");
    }
  }

  std::string_view rest_;
};

/// Bytes of a member in order, with their CRC-32.
class MemberBytes {
 public:
  explicit MemberBytes(const MemberRange& member)
      : member_(member), file_(platform::File::open_read(member.archive)) {
    if (member.offset > file_.size() || member.bytes > file_.size() - member.offset)
      damaged("it ends behind its archive");
  }
  std::uint64_t left() const { return member_.bytes - at_; }
  void read(std::byte* out, std::size_t bytes) {
    if (bytes > left()) damaged("it is cut");
    if (file_.read_at(member_.offset + at_, out, bytes) != bytes) damaged("its archive is cut");
    crc_ = crc32(crc_, {out, bytes});
    at_ += bytes;
  }
  void finish() const {
    if (left() != 0) damaged("bytes behind its values");
    if (crc_ != member_.crc32) damaged("its CRC-32 differs");
  }

 private:
  MemberRange member_;
  platform::File file_;
  std::uint64_t at_ = 0;
  std::uint32_t crc_ = 0;
};

std::string read_header(MemberBytes& bytes) {
  std::array<std::byte, kPrefix> prefix{};
  bytes.read(prefix.data(), prefix.size());
  if (std::memcmp(prefix.data(), kMagic, sizeof kMagic) != 0)
    damaged("not an array of NumPy's format, version 1");
  const auto low = std::to_integer<unsigned>(prefix[sizeof kMagic]);
  const auto high = std::to_integer<unsigned>(prefix[sizeof kMagic + 1]);
  std::string text(low + 256 * high, ' ');
  bytes.read(reinterpret_cast<std::byte*>(text.data()), text.size());
  return text;
}

}  // namespace

AnyColumn read_npy(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx) {
  MemberBytes bytes(member);
  const std::string text = read_header(bytes);
  HeaderReader header(text);
  header.read();
  if (*header.fortran) damaged("its values are in Fortran order");
  const auto& shape = *header.shape;
  const DType dtype = column_dtype(*header.descr, shape.size() == 2 ? shape[1] : 1);
  const std::uint64_t count = shape.empty() ? 1 : shape[0];
  if (rows && count != *rows) damaged(std::to_string(count) + " rows, not " + std::to_string(*rows));
  if (count > bytes.left() / dtype_size(dtype)) damaged("too short for its rows");
  AnyColumn column(dtype, static_cast<std::size_t>(count));
  for (std::size_t at = 0; at < column.bytes(); at += kRead) {
    ctx.checkpoint();
    bytes.read(column.data() + at, std::min(kRead, column.bytes() - at));
  }
  bytes.finish();
  return column;
}

}  // namespace pc::io
