#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "io/json_lexer.h"

namespace pc::io {

/// Walks over the values of a JSON text and skips them; the readers of lists and of records build on it. Errors: those of
/// JsonLexer, and kInvalidArgument for nesting deeper than the limit and for refused keys.
class JsonWalker {
 public:
  JsonWalker(std::string_view text, std::uint32_t depth_limit, OpContext& ctx)
      : lexer_(text, ctx), depth_limit_(depth_limit) {}

  JsonLexer& lexer() { return lexer_; }

  /// The depth of what is inside of a list or object at `depth`.
  std::uint32_t deeper(std::uint32_t depth) const {
    if (depth >= depth_limit_) lexer_.fail("nesting deeper than " + std::to_string(depth_limit_) + " levels");
    return depth + 1;
  }

  /// Skips any value. `constructed`: it is the value of a key "constructor".
  void skip(std::uint32_t depth, bool constructed = false);

  /// Reads the elements of a list, brackets included, and returns their number. `element()` reads one.
  template <class Element>
  std::uint64_t elements(Element&& element) {
    lexer_.expect('[', "a list is expected");
    lexer_.skip_blanks();
    if (lexer_.take(']')) return 0;
    for (std::uint64_t n = 1;; ++n) {
      lexer_.skip_blanks();
      element();
      lexer_.skip_blanks();
      lexer_.report();
      if (lexer_.take(']')) return n;
      lexer_.expect(',', "a comma or ] is expected");
    }
  }

  /// Reads an object, braces included. `member(key, depth)` reads the value of one member.
  template <class Member>
  void members(std::uint32_t depth, bool constructed, Member&& member) {
    const std::uint32_t inner = deeper(depth);
    lexer_.expect('{', "an object is expected");
    lexer_.skip_blanks();
    if (lexer_.take('}')) return;
    for (;;) {
      lexer_.skip_blanks();
      const std::string key = lexer_.read_string();
      if (key == "__proto__" || (constructed && key == "prototype")) lexer_.fail("the forbidden key " + key);
      lexer_.skip_blanks();
      lexer_.expect(':', "a colon is expected");
      lexer_.skip_blanks();
      member(key, inner);
      lexer_.skip_blanks();
      if (lexer_.take('}')) return;
      lexer_.expect(',', "a comma or } is expected");
    }
  }

 private:
  JsonLexer lexer_;
  std::uint32_t depth_limit_;
};

}  // namespace pc::io
