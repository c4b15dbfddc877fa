// Grammar, evaluated while it is read (packs hold short expressions, so no tree is kept):
//   or      = and { "or" and }
//   and     = not { "and" not }
//   not     = "not" not | compare
//   compare = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//   sum     = product { ("+" | "-") product }
//   product = unary { ("*" | "/" | "%") unary }
//   unary   = "-" unary | number | 'string' | name | "(" or ")"
// A name's part after "knob." may hold and start with "-" (knob.-np), so a minus there needs blanks.
#include "engine/expression.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.h"

namespace hyperloom {
namespace {

constexpr int kMaxDepth = 100;   // hostile packs must not exhaust the stack

using Maybe = std::optional<Value>;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool truth(const Maybe& value) {
  if (!value) return false;
  if (const double* number = std::get_if<double>(&*value)) return *number != 0;
  return !std::get<std::string>(*value).empty();
}

Maybe number(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return Value(value);
}

class Reader {
 public:
  Reader(std::string_view text, const Facts* facts, std::set<std::string>* names)
      : text_(text), facts_(facts), names_(names) {}

  Maybe read_all() {
    Maybe value = read_or();
    skip_blanks();
    if (at_ < text_.size()) fail("unexpected `" + std::string(1, text_[at_]) + "`");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw bad_input("expression `" + std::string(text_.substr(0, 200)) + "`, column " +
                        std::to_string(at_ + 1) + ": " + problem,
                    "allowed: numbers, 'strings', model.* machine.* traffic.* knob.*, + - * / %, "
                    "comparisons, and, or, not, parentheses");
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    const size_t end = at_ + word.size();
    if (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) {
      return false;
    }
    at_ = end;
    return true;
  }

  Maybe read_or() {
    Maybe value = read_and();
    while (take_word("or")) {
      const Maybe right = read_and();
      value = number(truth(value) || truth(right));
    }
    return value;
  }

  Maybe read_and() {
    Maybe value = read_not();
    while (take_word("and")) {
      const Maybe right = read_not();
      value = number(truth(value) && truth(right));
    }
    return value;
  }

  Maybe read_not() {
    if (!take_word("not")) return read_compare();
    Deeper deeper(*this);
    return number(!truth(read_not()));
  }

  Maybe read_compare() {
    const Maybe left = read_sum();
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (take(op)) return compare(left, op, read_sum());
    }
    return left;
  }

  static Maybe compare(const Maybe& left, std::string_view op, const Maybe& right) {
    if (!left || !right) return number(0);
    const bool same_kind = left->index() == right->index();
    if (op == "==") return number(same_kind && *left == *right);
    if (op == "!=") return number(!same_kind || *left != *right);
    if (!same_kind) return number(0);
    if (op == "<=") return number(*left <= *right);
    if (op == ">=") return number(*left >= *right);
    return number(op == "<" ? *left < *right : *left > *right);
  }

  Maybe read_sum() {
    Maybe value = read_product();
    while (true) {
      if (take("+")) {
        value = arithmetic(value, '+', read_product());
      } else if (take("-")) {
        value = arithmetic(value, '-', read_product());
      } else {
        return value;
      }
    }
  }

  Maybe read_product() {
    Maybe value = read_unary();
    while (true) {
      char op = 0;
      for (const char c : {'*', '/', '%'}) {
        if (take(std::string_view(&c, 1))) {
          op = c;
          break;
        }
      }
      if (op == 0) return value;
      value = arithmetic(value, op, read_unary());
    }
  }

  // Strings take no part in arithmetic, and a division by zero has no value.
  static Maybe arithmetic(const Maybe& left, char op, const Maybe& right) {
    if (!left || !right) return std::nullopt;
    const double* a = std::get_if<double>(&*left);
    const double* b = std::get_if<double>(&*right);
    if (a == nullptr || b == nullptr) return std::nullopt;
    if (op == '+') return number(*a + *b);
    if (op == '-') return number(*a - *b);
    if (op == '*') return number(*a * *b);
    if (*b == 0) return std::nullopt;
    return number(op == '/' ? *a / *b : std::fmod(*a, *b));
  }

  Maybe read_unary() {
    Deeper deeper(*this);
    skip_blanks();
    if (at_ >= text_.size()) fail("ends too early");
    const char c = text_[at_];
    if (c == '-') {
      ++at_;
      return arithmetic(number(0), '-', read_unary());
    }
    if (c == '(') {
      ++at_;
      Maybe value = read_or();
      if (!take(")")) fail("`)` is missing");
      return value;
    }
    if (c == '\'') return read_string();
    if (is_digit(c) || c == '.') return read_number();
    if (is_letter(c)) return read_name();
    fail("unexpected `" + std::string(1, c) + "`");
  }

  Maybe read_string() {
    const size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) fail("the string's closing ' is missing");
    Value value = std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  Maybe read_number() {
    double value = 0;
    const auto [end, problem] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem != std::errc()) fail("not a number");
    at_ = static_cast<size_t>(end - text_.data());
    return number(value);
  }

  Maybe read_name() {
    const size_t start = at_;
    bool knob = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '.' && text_.substr(start, at_ - start) == "knob") knob = true;
      if (!is_letter(c) && !is_digit(c) && c != '.' && !(knob && c == '-')) break;
      ++at_;
    }
    const std::string name(text_.substr(start, at_ - start));
    if (name.find('.') == std::string::npos) {
      at_ = start;
      fail("`" + name + "` is no name: names start with model. machine. traffic. or knob.");
    }
    if (names_ != nullptr) names_->insert(name);
    if (facts_ == nullptr) return std::nullopt;
    const auto found = facts_->find(name);
    if (found == facts_->end()) return std::nullopt;
    return found->second;
  }

  struct Deeper {
    explicit Deeper(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > kMaxDepth) reader_.fail("nested too deeply");
    }
    ~Deeper() { --reader_.depth_; }
    Reader& reader_;
  };

  std::string_view text_;
  const Facts* facts_;
  std::set<std::string>* names_;
  size_t at_ = 0;
  int depth_ = 0;
};

bool blank(const std::string& expression) {
  return expression.find_first_not_of(" \t\n") == std::string::npos;
}

}  // namespace

bool holds(const std::string& expression, const Facts& facts) {
  if (blank(expression)) return true;
  return truth(Reader(expression, &facts, nullptr).read_all());
}

std::optional<Value> evaluate(const std::string& expression, const Facts& facts) {
  return Reader(expression, &facts, nullptr).read_all();
}

std::set<std::string> names_in(const std::string& expression) {
  std::set<std::string> names;
  if (!blank(expression)) Reader(expression, nullptr, &names).read_all();
  return names;
}

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  char buffer[40];
  const bool whole = number == std::floor(number) && std::fabs(number) < 1e15;
  const auto result = whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<int64_t>(number))
                            : std::to_chars(buffer, buffer + sizeof buffer, number);
  return std::string(buffer, result.ptr);
}

Value value_of(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const bool all = !text.empty() && result.ec == std::errc() && result.ptr == end;
  if (all && std::isfinite(number)) return number;
  return text;
}

}  // namespace hyperloom
