#include "codec/json.h"

#include <fmt/format.h>
#include <rapidjson/error/error.h>
#include <rapidjson/reader.h>

#include <limits>
#include <utility>
#include <vector>

#include "codec/document_builder.h"

namespace berth::codec {
namespace {

// The text being parsed in place: RapidJSON writes unescaped strings over their source, so Values can point right into
// the text. Lines are counted as characters are taken, because afterwards the source is gone.
// Taking or writing at the end does nothing: RapidJSON reads a truncated UTF-8 sequence without looking for the end.
class CountingStream {
 public:
  using Ch = char;

  explicit CountingStream(std::string& text)
      : begin_(text.data()), end_(begin_ + text.size()), source_(begin_), target_(begin_) {}

  char Peek() const { return source_ == end_ ? '\0' : *source_; }
  char Take() {
    if (source_ == end_) return '\0';
    const char c = *source_++;
    if (c == '\n') {
      ++mark_.line;
      mark_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++mark_.column;
    }
    return c;
  }
  size_t Tell() const { return static_cast<size_t>(source_ - begin_); }

  // Called right after a string's opening quote was taken.
  char* PutBegin() {
    string_mark_ = {mark_.line, mark_.column - 1};
    return target_ = source_;
  }
  void Put(char c) {
    if (target_ != end_) *target_++ = c;
  }
  size_t PutEnd(const char* begin) { return static_cast<size_t>(target_ - begin); }
  void Flush() {}

  bool at_end() const { return source_ == end_; }
  const char* source() const { return source_; }
  Mark mark() const { return mark_; }
  Mark string_mark() const { return string_mark_; }
  // The place of something on this line that began `characters` ago.
  Mark Back(size_t characters) const {
    const auto count = static_cast<uint32_t>(characters);
    return {mark_.line, mark_.column > count ? mark_.column - count : 1};
  }

 private:
  char* begin_;
  char* end_;
  char* source_;
  char* target_;
  Mark mark_{1, 1};
  Mark string_mark_;
};

// Receives RapidJSON's events. Children wait on a stack until their container closes.
class TreeHandler {
 public:
  TreeHandler(DocumentBuilder& builder, const CountingStream& stream) : builder_(builder), stream_(stream) {}

  bool Null() { return Add(Value::Null(stream_.Back(4))); }
  bool Bool(bool value) { return Add(Value::Bool(value, stream_.Back(value ? 4 : 5))); }
  bool RawNumber(const char*, rapidjson::SizeType size, bool) {
    // RapidJSON's pointer stands behind the number when parsing in place.
    return Add(Value::Number({stream_.source() - size, size}, /*is_float=*/false, stream_.Back(size)));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return Add(Value::String({text, size}, stream_.string_mark()));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    pending_key_ = {text, size};
    pending_key_mark_ = stream_.string_mark();
    return true;
  }
  bool StartObject() { return Open(); }
  bool StartArray() { return Open(); }
  bool EndObject(rapidjson::SizeType count) {
    return Close(count, [&](std::span<Member> children, Mark mark) {
      return Value::Object(builder_.CopyMembers(children), mark);
    });
  }
  bool EndArray(rapidjson::SizeType count) {
    return Close(
        count, [&](std::span<Member> children, Mark mark) { return Value::Array(builder_.CopyItems(children), mark); });
  }

  // Numbers arrive as text; the reader never calls these.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  Value root() const { return stack_.front().value; }
  bool too_deep() const { return too_deep_; }

 private:
  struct Container {
    std::string_view key;
    Mark key_mark;
    Mark mark;
  };

  bool Add(Value value) {
    stack_.push_back({.key = pending_key_, .key_mark = pending_key_mark_, .value = value});
    pending_key_ = {};
    pending_key_mark_ = {};
    return true;
  }

  // The opening bracket is not yet taken, so the stream stands on it.
  bool Open() {
    too_deep_ = containers_.size() >= kMaxDepth;
    if (too_deep_) return false;
    containers_.push_back({std::exchange(pending_key_, {}), std::exchange(pending_key_mark_, {}), stream_.mark()});
    return true;
  }

  template <class MakeValue>
  bool Close(size_t count, MakeValue make_value) {
    const Container container = containers_.back();
    containers_.pop_back();
    const Value value = make_value(std::span(stack_).last(count), container.mark);
    stack_.resize(stack_.size() - count);
    pending_key_ = container.key;
    pending_key_mark_ = container.key_mark;
    return Add(value);
  }

  DocumentBuilder& builder_;
  const CountingStream& stream_;
  std::vector<Member> stack_;
  std::vector<Container> containers_;
  std::string_view pending_key_;
  Mark pending_key_mark_;
  bool too_deep_ = false;
};

const char* Explain(rapidjson::ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentEmpty:
      return "expected a JSON value, found nothing";
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "unexpected text after the JSON value";
    case rapidjson::kParseErrorObjectMissName:
      return "expected a quoted field name";
    case rapidjson::kParseErrorObjectMissColon:
      return "expected ':' after the field name";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected ',' or '}' after the field";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "expected ',' or ']' after the list item";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return "expected four hexadecimal digits after '\\u'";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "expected a valid surrogate pair";
    case rapidjson::kParseErrorStringEscapeInvalid:
      return "invalid escape or control character in a string";
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "expected '\"' at the end of the string";
    case rapidjson::kParseErrorStringInvalidEncoding:
      return "invalid UTF-8 in a string";
    case rapidjson::kParseErrorNumberTooBig:
      return "number out of range";
    case rapidjson::kParseErrorNumberMissFraction:
      return "expected digits after the decimal point";
    case rapidjson::kParseErrorNumberMissExponent:
      return "expected digits in the exponent";
    case rapidjson::kParseErrorValueInvalid:
      return "expected a JSON value";
    default:
      return "malformed JSON";
  }
}

}  // namespace

Result<Document> ParseJson(std::string text, std::string file_name) {
  if (text.size() > std::numeric_limits<uint32_t>::max()) {
    return Error::InvalidArgument(fmt::format("{}: larger than 4 GiB", file_name));
  }
  DocumentBuilder builder(file_name);
  CountingStream stream(builder.AdoptText(std::move(text)));
  TreeHandler handler(builder, stream);
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  auto fail = [&](Mark mark, std::string_view problem) {
    return Error::InvalidArgument(fmt::format("{}: {}", Where(file_name, mark), problem));
  };
  if (result.IsError()) {
    if (handler.too_deep()) return fail(stream.mark(), fmt::format("nested deeper than {} levels", kMaxDepth));
    // Where the input is cut short, that is the thing to say; the reader only knows what it wanted next.
    if (stream.at_end() && result.Code() != rapidjson::kParseErrorDocumentEmpty &&
        result.Code() != rapidjson::kParseErrorStringInvalidEncoding) {
      return fail(stream.mark(), fmt::format("unexpected end of input, {}", Explain(result.Code())));
    }
    return fail(stream.Back(stream.Tell() - result.Offset()), Explain(result.Code()));
  }
  // RapidJSON takes a NUL for the end.
  if (!stream.at_end()) return fail(stream.mark(), "unexpected NUL character");
  return std::move(builder).Finish(handler.root());
}

}  // namespace berth::codec
