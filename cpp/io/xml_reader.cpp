#include "io/xml_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pc::io {

namespace {

constexpr std::string_view kCommentEnd = "-->", kDataStart = "<![CDATA[", kDataEnd = "]]>", kPiEnd = "?>";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// NameStartChar and NameChar; every byte of a multi-byte character counts as a letter.
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xe0 | code >> 12);
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
    }
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

/// The character of the reference "#..." (the text between & and ;), or 0.
std::uint32_t character_reference(std::string_view digits) {
  const bool hex = digits.size() > 1 && digits[1] == 'x';
  std::uint32_t code = 0;
  const std::size_t first = hex ? 2 : 1;
  if (digits.size() <= first || digits.size() > 10) return 0;
  for (std::size_t i = first; i < digits.size(); ++i) {
    const char c = digits[i];
    const int lower = c | 0x20;
    if (c >= '0' && c <= '9') {
      code = code * (hex ? 16 : 10) + static_cast<std::uint32_t>(c - '0');
    } else if (hex && lower >= 'a' && lower <= 'f') {
      code = code * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    } else {
      return 0;
    }
    if (code > 0x10ffff) return 0;
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool control = code < 0x20 && code != 9 && code != 10 && code != 13;
  return surrogate || control ? 0 : code;
}

/// Resolves the reference at text[0] == '&' and appends it to `out`. Returns its length, or 0 if it is not allowed.
std::size_t resolve_reference(std::string_view text, std::string* out) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  const std::size_t end = text.substr(0, 12).find(';');
  if (end == std::string_view::npos) return 0;
  const std::string_view name = text.substr(1, end - 1);
  for (const auto& [entity, character] : kEntities) {
    if (name != entity) continue;
    if (out != nullptr) *out += character;
    return end + 1;
  }
  const std::uint32_t code = !name.empty() && name[0] == '#' ? character_reference(name) : 0;
  if (code == 0) return 0;
  if (out != nullptr) append_utf8(code, *out);
  return end + 1;
}

/// Text without markup, references resolved; the parser has checked them.
void append_resolved(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t reference = std::min(text.find('&', i), text.size());
    out.append(text.substr(i, reference - i));
    i = reference;
    if (i < text.size()) i += std::max<std::size_t>(1, resolve_reference(text.substr(i), &out));
  }
}

}  // namespace

/// Builds a document in one pass over its text.
class XmlParser {
 public:
  XmlParser(XmlDocument& document, const std::string& where, const OpContext* ctx)
      : document_(document), where_(where), text_(document.text_.data(), document.text_.size()), ctx_(ctx) {}

  void run() {
    reserve_elements();
    check_characters();
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
    read_declaration();
    read_misc();
    if (!starts("<") || starts("</")) fail("the root element is missing");
    do {
      poll(++steps_);
      if (starts("</")) {
        end_tag();
      } else if (starts(kDataStart)) {
        skip_past(kDataEnd, "CDATA section");
      } else if (starts("<!--")) {
        skip_past(kCommentEnd, "comment");
      } else if (starts("<?")) {
        skip_past(kPiEnd, "processing instruction");
      } else if (starts("<!")) {
        refuse_declaration();
      } else if (starts("<")) {
        start_tag();
      } else {
        character_data();
      }
    } while (!open_.empty());
    read_misc();
    if (at_ != text_.size()) fail("nothing but comments may follow the root element");
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorCode::kInvalidFile, where_ + ", byte " + std::to_string(at_) + ": " + problem);
  }
  [[noreturn]] void refuse_declaration() const {
    fail("a document type declaration or other <! markup is not allowed here; write the file without it");
  }
  /// Sees a cancel every million bytes of a scan, or every 65 536 tags and texts.
  void poll(std::size_t step, std::size_t mask = 0xffff) const {
    if (ctx_ != nullptr && (step & mask) == 0) ctx_->checkpoint();
  }
  void reserve_elements() {
    std::size_t elements = 0;
    for (std::size_t i = 0; i + 1 < text_.size(); ++i) {
      poll(i, 0xfffff);
      elements += text_[i] == '<' && is_name_start(text_[i + 1]) ? 1 : 0;
    }
    document_.nodes_.reserve(elements);
  }
  bool starts(std::string_view token) const { return text_.substr(at_, token.size()) == token; }

  void check_characters() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      poll(at_, 0xfffff);
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20 && !is_space(c)) {
        fail("control character " + std::to_string(static_cast<int>(c)) + " is not allowed in XML");
      }
    }
    at_ = 0;
  }
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  void skip_past(std::string_view end, const char* what) {
    const std::size_t found = text_.find(end, at_ + 2);
    if (found == std::string_view::npos) fail(std::string("a ") + what + " is not closed");
    at_ = found + end.size();
  }
  void read_declaration() {
    if (!starts("<?xml")) return;
    const std::size_t first = at_;
    skip_past(kPiEnd, "XML declaration");
    const std::string_view declaration = text_.substr(first, at_ - first);
    const std::size_t encoding = declaration.find("encoding");
    if (encoding == std::string_view::npos) return;
    std::string name;
    for (const char c : declaration.substr(encoding + 8)) {
      if (c == '?') break;
      if (!is_space(c) && c != '=' && c != '"' && c != '\'')
        name += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    if (name.substr(0, 5) != "utf-8" && name.substr(0, 8) != "us-ascii") {
      throw Error(ErrorCode::kUnsupported,
                  where_ + ": encoding " + name.substr(0, 40) + " is not supported, only UTF-8");
    }
  }
  void read_misc() {
    for (;;) {
      skip_spaces();
      if (starts("<!--")) {
        skip_past(kCommentEnd, "comment");
      } else if (starts("<?")) {
        skip_past(kPiEnd, "processing instruction");
      } else if (starts("<!")) {
        refuse_declaration();
      } else {
        return;
      }
    }
  }
  void character_data() {
    const std::size_t end = std::min(text_.find('<', at_), text_.size());
    check_references(end);
    if (end == text_.size()) fail("the document ends inside element " + open_name());
    at_ = end;
  }
  /// Checks every reference in [at_, end).
  void check_references(std::size_t end) {
    const std::string_view text = text_.substr(0, end);
    for (std::size_t i = text.find('&', at_); i < end; i = text.find('&', i)) {
      const std::size_t bytes = resolve_reference(text.substr(i), nullptr);
      at_ = bytes == 0 ? i : at_;
      if (bytes == 0) fail("'&' must start lt, gt, amp, quot, apos or a character reference");
      i += bytes;
    }
  }
  std::uint32_t name_at(std::size_t from) {
    std::size_t end = from;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    if (end == from || !is_name_start(text_[from]))
      fail("a name is expected after byte " + std::to_string(from));
    return static_cast<std::uint32_t>(end - from);
  }
  std::string open_name() const {
    const auto& node = document_.nodes_[open_.back()];
    return std::string(document_.part(node.start + 1, std::min<std::uint32_t>(node.name_bytes, 60)));
  }

  void start_tag() {
    if (open_.size() == XmlDocument::kMaxDepth) {
      fail("elements are nested deeper than " + std::to_string(XmlDocument::kMaxDepth));
    }
    constexpr std::uint32_t kNone = XmlDocument::kNone;
    const auto index = static_cast<std::uint32_t>(document_.nodes_.size());
    XmlDocument::Node node{static_cast<std::uint32_t>(at_),
                           name_at(at_ + 1),
                           0,
                           0,
                           kNone,
                           kNone,
                           kNone,
                           static_cast<std::uint32_t>(document_.attributes_.size()),
                           0};
    at_ += 1 + node.name_bytes;
    while (read_attribute(node)) {
    }
    const bool empty = starts("/>");
    if (!empty && !starts(">")) fail("a start tag must end with > or />");
    at_ += empty ? 2 : 1;
    node.content = node.content_end = static_cast<std::uint32_t>(at_);
    if (!open_.empty()) {
      auto& parent = document_.nodes_[open_.back()];
      if (parent.first_child == kNone) {
        parent.first_child = index;
      } else {
        document_.nodes_[parent.last_child].next_sibling = index;
      }
      parent.last_child = index;
    }
    document_.nodes_.push_back(node);
    if (!empty) open_.push_back(index);
  }

  bool read_attribute(XmlDocument::Node& node) {
    const std::size_t before = at_;
    skip_spaces();
    if (at_ == text_.size() || starts(">") || starts("/>")) return false;
    if (at_ == before) fail("attributes must be separated by blanks");
    if (node.attribute_count == XmlDocument::kMaxAttributes) fail("an element has more than 64 attributes");
    XmlDocument::Attribute attribute{static_cast<std::uint32_t>(at_), name_at(at_), 0, 0};
    at_ += attribute.name_bytes;
    skip_spaces();
    if (!starts("=")) fail("an attribute needs a value");
    ++at_;
    skip_spaces();
    if (!starts("\"") && !starts("'")) fail("an attribute value must stand in quotes");
    const char quote = text_[at_++];
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("an attribute value is not closed");
    if (text_.substr(at_, end - at_).find('<') != std::string_view::npos)
      fail("'<' is not allowed in an attribute value");
    attribute.value = static_cast<std::uint32_t>(at_);
    attribute.value_bytes = static_cast<std::uint32_t>(end - at_);
    check_references(end);
    for (std::uint32_t i = 0; i < node.attribute_count; ++i) {
      const auto& other = document_.attributes_[node.first_attribute + i];
      if (document_.part(other.name, other.name_bytes) ==
          document_.part(attribute.name, attribute.name_bytes)) {
        fail("an attribute is given twice");
      }
    }
    at_ = end + 1;
    document_.attributes_.push_back(attribute);
    ++node.attribute_count;
    return true;
  }

  void end_tag() {
    auto& node = document_.nodes_[open_.back()];
    const std::uint32_t bytes = name_at(at_ + 2);
    if (text_.substr(at_ + 2, bytes) != document_.part(node.start + 1, node.name_bytes)) {
      fail("the end tag does not fit element " + open_name());
    }
    node.content_end = static_cast<std::uint32_t>(at_);
    at_ += 2 + bytes;
    skip_spaces();
    if (!starts(">")) fail("an end tag must end with >");
    ++at_;
    open_.pop_back();
  }

  XmlDocument& document_;
  const std::string& where_;
  std::string_view text_;
  const OpContext* ctx_;
  std::size_t at_ = 0, steps_ = 0;
  std::vector<std::uint32_t> open_;
};

XmlDocument XmlDocument::parse_with(BulkVector<char> text, const std::string& where, std::uint64_t max_bytes,
                                    const OpContext* ctx) {
  if (text.size() > max_bytes) {
    throw Error(ErrorCode::kInvalidFile, where + ": " + std::to_string(text.size()) +
                                             " bytes of XML, at most " + std::to_string(max_bytes) +
                                             " are read");
  }
  XmlDocument document;
  document.text_ = std::move(text);
  XmlParser(document, where, ctx).run();
  return document;
}

XmlDocument XmlDocument::parse(BulkVector<char> text, const std::string& where) {
  return parse_with(std::move(text), where, kMaxBytes, nullptr);
}

XmlDocument XmlDocument::parse(BulkVector<char> text, const std::string& where, std::uint64_t max_bytes,
                               OpContext& ctx) {
  return parse_with(std::move(text), where, max_bytes, &ctx);
}

std::uint64_t XmlDocument::line_of(std::uint64_t offset) const {
  const auto end = std::min<std::uint64_t>(offset, text_.size());
  return 1 + static_cast<std::uint64_t>(std::count(text_.begin(), text_.begin() + end, '\n'));
}

std::string_view XmlElement::name() const {
  const auto& node = document_->nodes_[node_];
  return document_->part(node.start + 1, node.name_bytes);
}

std::uint64_t XmlElement::offset() const { return document_->nodes_[node_].start; }

std::string_view XmlElement::source() const {
  const auto& node = document_->nodes_[node_];
  const std::string_view text(document_->text_.data(), document_->text_.size());
  const bool empty = text[node.content - 2] == '/';
  const std::size_t end = empty ? node.content : text.find('>', node.content_end) + 1;
  return text.substr(node.start, end - node.start);
}

std::optional<std::string> XmlElement::attribute(std::string_view name) const {
  const auto& node = document_->nodes_[node_];
  for (std::uint32_t i = 0; i < node.attribute_count; ++i) {
    const auto& attribute = document_->attributes_[node.first_attribute + i];
    if (document_->part(attribute.name, attribute.name_bytes) != name) continue;
    std::string value;
    append_resolved(document_->part(attribute.value, attribute.value_bytes), value);
    return value;
  }
  return std::nullopt;
}

std::string XmlElement::text() const {
  const auto& node = document_->nodes_[node_];
  std::string out;
  if (node.first_child != XmlDocument::kNone) return out;
  std::string_view rest = document_->part(node.content, node.content_end - node.content);
  while (!rest.empty()) {
    const std::size_t markup = std::min(rest.find('<'), rest.size());
    append_resolved(rest.substr(0, markup), out);
    rest.remove_prefix(markup);
    if (rest.empty()) break;
    const bool data = rest.substr(0, kDataStart.size()) == kDataStart;
    const std::string_view end = data ? kDataEnd : rest[1] == '?' ? kPiEnd : kCommentEnd;
    const std::size_t stop = rest.find(end, 2);
    if (data) out.append(rest.substr(kDataStart.size(), stop - kDataStart.size()));
    rest.remove_prefix(stop + end.size());
  }
  return out;
}

std::optional<XmlElement> XmlElement::first_child() const {
  const std::uint32_t child = document_->nodes_[node_].first_child;
  return child == XmlDocument::kNone ? std::nullopt : std::optional<XmlElement>({*document_, child});
}

std::optional<XmlElement> XmlElement::next_sibling() const {
  const std::uint32_t next = document_->nodes_[node_].next_sibling;
  return next == XmlDocument::kNone ? std::nullopt : std::optional<XmlElement>({*document_, next});
}

std::optional<XmlElement> XmlElement::child(std::string_view name) const {
  for (auto child = first_child(); child; child = child->next_sibling()) {
    if (child->name() == name) return child;
  }
  return std::nullopt;
}

}  // namespace pc::io
