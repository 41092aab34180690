#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/memory.h"
#include "core/op_context.h"

namespace pc::io {

class XmlDocument;

/// An element of a document: a small handle; the document must outlive it.
class XmlElement {
 public:
  XmlElement(const XmlDocument& document, std::uint32_t node) : document_(&document), node_(node) {}

  /// The name as written, with its prefix: "nor:normalX".
  std::string_view name() const;
  /// Value with references resolved; empty if the element has no such attribute.
  std::optional<std::string> attribute(std::string_view name) const;
  /// Character data and CDATA sections with references resolved; "" for an element with child elements.
  std::string text() const;
  std::optional<XmlElement> first_child() const;
  std::optional<XmlElement> next_sibling() const;
  /// First child of that name.
  std::optional<XmlElement> child(std::string_view name) const;
  /// Byte offset of the element's '<' in the document, for messages.
  std::uint64_t offset() const;
  /// The element as written, from its '<' to the '>' of its end tag.
  std::string_view source() const;

 private:
  const XmlDocument* document_;
  std::uint32_t node_;
};

/// A parsed XML document: its text and an index of it.
///
/// Strict subset of XML 1.0: UTF-8, one root, balanced tags, unique attributes, the five predefined entities and
/// character references. Documents with a document type declaration are rejected, so no entity can expand or access a
/// file.
class XmlDocument {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;
  static constexpr std::size_t kMaxDepth = 64;
  static constexpr std::size_t kMaxAttributes = 64;

  /// text     the whole document; at most kMaxBytes.
  /// where    name of the document in messages: "scan.e57, XML section".
  /// Cost     O(n) time; in addition to the text 36 bytes per element and 16 per attribute.
  /// Errors   kInvalidFile with the byte and the rule; kUnsupported for an encoding other than UTF-8.
  /// Source   W3C Extensible Markup Language (XML) 1.0, fifth edition; productions named in the body.
  static XmlDocument parse(BulkVector<char> text, const std::string& where);
  /// For documents of up to `max_bytes` (< 4 GiB). Cancel: within 20 ms.
  static XmlDocument parse(BulkVector<char> text, const std::string& where, std::uint64_t max_bytes,
                           OpContext& ctx);

  XmlElement root() const { return {*this, 0}; }
  /// The line that contains a byte, from 1.
  std::uint64_t line_of(std::uint64_t offset) const;

 private:
  friend class XmlElement;
  friend class XmlParser;
  static constexpr std::uint32_t kNone = 0xffffffff;

  static XmlDocument parse_with(BulkVector<char> text, const std::string& where, std::uint64_t max_bytes,
                                const OpContext* ctx);

  struct Node {
    std::uint32_t start, name_bytes;     ///< byte of '<'; the name follows it
    std::uint32_t content, content_end;  ///< between the tags
    std::uint32_t first_child, last_child, next_sibling;
    std::uint32_t first_attribute, attribute_count;
  };
  struct Attribute {
    std::uint32_t name, name_bytes, value, value_bytes;
  };

  std::string_view part(std::uint32_t begin, std::uint32_t bytes) const {
    return {text_.data() + begin, bytes};
  }

  BulkVector<char> text_;
  BulkVector<Node> nodes_;
  BulkVector<Attribute> attributes_;
};

}  // namespace pc::io
