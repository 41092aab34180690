#include "io/json_walker.h"

namespace pc::io {

void JsonWalker::skip(std::uint32_t depth, bool constructed) {
  lexer_.report();
  switch (lexer_.peek()) {
    case '{':
      members(depth, constructed,
              [&](const std::string& key, std::uint32_t inner) { skip(inner, key == "constructor"); });
      return;
    case '[': {
      const std::uint32_t inner = deeper(depth);
      elements([&] { skip(inner); });
      return;
    }
    case '"':
      lexer_.skip_string();
      return;
    default:
      if (lexer_.take_word("true") || lexer_.take_word("false") || lexer_.take_word("null")) return;
      (void)lexer_.read_number();
  }
}

}  // namespace pc::io
