#include "api/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::api {
namespace {

using Format = Quantity::Format;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Quantity MustParse(std::string_view text) {
  Result<Quantity> quantity = Quantity::Parse(text);
  EXPECT_TRUE(quantity.ok()) << text;
  return quantity.ok() ? *quantity : Quantity();
}

struct ParseCase {
  std::string_view text;
  std::string_view canonical;
  int64_t value;
  int64_t milli;
  Format format = Format::kDecimalSI;
};

class QuantityParse : public testing::TestWithParam<ParseCase> {};

TEST_P(QuantityParse, ReadsRoundsAndPrints) {
  const ParseCase& test = GetParam();
  const Quantity quantity = MustParse(test.text);
  EXPECT_EQ(quantity.ToString(), test.canonical) << test.text;
  EXPECT_EQ(quantity.Value(), test.value) << test.text;
  EXPECT_EQ(quantity.MilliValue(), test.milli) << test.text;
  EXPECT_EQ(quantity.format(), test.format) << test.text;
  EXPECT_EQ(MustParse(quantity.ToString()), quantity) << test.text;
}

INSTANTIATE_TEST_SUITE_P(Decimal, QuantityParse,
                         testing::Values(ParseCase{"0", "0", 0, 0}, ParseCase{"0m", "0", 0, 0},
                                         ParseCase{"1", "1", 1, 1000}, ParseCase{"100m", "100m", 1, 100},
                                         ParseCase{"1000m", "1", 1, 1000}, ParseCase{"1500m", "1500m", 2, 1500},
                                         ParseCase{"1.500", "1500m", 2, 1500}, ParseCase{".5", "500m", 1, 500},
                                         ParseCase{"5.", "5", 5, 5000}, ParseCase{"+5", "5", 5, 5000},
                                         ParseCase{"-1.5", "-1500m", -2, -1500}, ParseCase{"00010m", "10m", 1, 10},
                                         ParseCase{"1n", "1n", 1, 1}, ParseCase{"1001n", "1001n", 1, 1},
                                         ParseCase{"1u", "1u", 1, 1}, ParseCase{"1k", "1k", 1000, 1'000'000},
                                         ParseCase{"1000k", "1M", 1'000'000, 1'000'000'000},
                                         ParseCase{"1024", "1024", 1024, 1'024'000},
                                         ParseCase{"9P", "9P", 9'000'000'000'000'000, 9'000'000'000'000'000'000},
                                         ParseCase{"1E", "1E", 1'000'000'000'000'000'000, kMax},
                                         ParseCase{"9223372036854775807", "9223372036854775807", kMax, kMax}));

INSTANTIATE_TEST_SUITE_P(RoundsUpBelowNano, QuantityParse,
                         testing::Values(ParseCase{"0.000000000001", "1n", 1, 1}, ParseCase{"0.1n", "1n", 1, 1},
                                         ParseCase{"-0.1n", "-1n", -1, -1},
                                         ParseCase{"1.0000000001", "1000000001n", 2, 1001},
                                         ParseCase{"0.9223372036854775807", "922337204n", 1, 923},
                                         ParseCase{"1e-10", "1e-9", 1, 1, Format::kDecimalExponent}));

INSTANTIATE_TEST_SUITE_P(Exponent, QuantityParse,
                         testing::Values(ParseCase{"1.5e3", "1500", 1500, 1'500'000, Format::kDecimalExponent},
                                         ParseCase{"1e3", "1e3", 1000, 1'000'000, Format::kDecimalExponent},
                                         ParseCase{"1E3", "1e3", 1000, 1'000'000, Format::kDecimalExponent},
                                         ParseCase{"1e+3", "1e3", 1000, 1'000'000, Format::kDecimalExponent},
                                         ParseCase{"1e-3", "1e-3", 1, 1, Format::kDecimalExponent},
                                         ParseCase{"1e28", "10e27", kMax, kMax, Format::kDecimalExponent}));

INSTANTIATE_TEST_SUITE_P(Binary, QuantityParse,
                         testing::Values(ParseCase{"1Ki", "1Ki", 1024, 1'024'000, Format::kBinarySI},
                                         ParseCase{"0.5Gi", "512Mi", 536870912, 536870912000, Format::kBinarySI},
                                         ParseCase{"1.5Gi", "1536Mi", 1610612736, 1610612736000, Format::kBinarySI},
                                         ParseCase{"1024Mi", "1Gi", 1073741824, 1073741824000, Format::kBinarySI},
                                         ParseCase{"5.Ki", "5Ki", 5120, 5'120'000, Format::kBinarySI},
                                         ParseCase{"0.5Ki", "512", 512, 512'000, Format::kBinarySI},
                                         ParseCase{"1.1Ki", "1126400m", 1127, 1'126'400, Format::kBinarySI},
                                         ParseCase{"0.0001Ki", "102400u", 1, 103, Format::kDecimalSI},
                                         ParseCase{"3.0000000001Gi", "3221225472107374183n", 3221225473, 3221225472108,
                                                   Format::kBinarySI},
                                         // Capped at 2^63-1.
                                         ParseCase{"8Ei", "9223372036854775807", kMax, kMax, Format::kBinarySI},
                                         ParseCase{"9.5Ei", "9223372036854775807", kMax, kMax, Format::kBinarySI}));

// Not what the pattern in the error text allows, but what Kubernetes accepts.
INSTANTIATE_TEST_SUITE_P(MissingNumber, QuantityParse,
                         testing::Values(ParseCase{"+", "0", 0, 0}, ParseCase{".", "0", 0, 0},
                                         ParseCase{"Ki", "0", 0, 0, Format::kBinarySI}));

TEST(Quantity, RejectsWithTheReason) {
  const std::string format =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const std::string suffix = "unable to parse quantity's suffix";
  const std::string number = "unable to parse numeric part of quantity";
  const struct {
    std::string_view text;
    const std::string& reason;
  } tests[] = {{"", format},      {" 1", format},     {"1 ", format},    {"aoeu", format}, {"1.1.M", format},
               {"1e3m", format},  {"1+1.0M", format}, {"0.1am", format}, {"12e", suffix},  {"1i", suffix},
               {"0.1mi", suffix}, {"1K", suffix},     {"1e-", suffix},   {"--1", suffix},  {"1EE3", suffix},
               {"1m3", suffix},   {"Pi", number},     {"e-12", number}};
  for (const auto& test : tests) {
    const Result<Quantity> quantity = Quantity::Parse(test.text);
    ASSERT_FALSE(quantity.ok()) << test.text;
    EXPECT_EQ(quantity.error().message, test.reason) << test.text;
  }
}

TEST(Quantity, HugeAmountsStopAtTheEndsInsteadOfWrapping) {
  EXPECT_EQ(MustParse("1e1000000000"), MustParse("99999999999999999999999999999999999999999999"));
  EXPECT_EQ(MustParse("1e-1000000000").ToString(), "1e-9");
  EXPECT_EQ(MustParse("-100E").Value(), std::numeric_limits<int64_t>::min());
  Quantity sum = MustParse("1e1000");
  sum.Add(sum);
  EXPECT_EQ(sum, MustParse("1e1000"));
}

TEST(Quantity, ManyDigitsAreCutExactly) {
  // 0.1 Ti written with forty digits: too long for 128 bits before truncation.
  EXPECT_EQ(MustParse("0.1000000000000000000000000000000000000000Ti"), MustParse("0.1Ti"));
  EXPECT_EQ(MustParse("0.1000000000000000000000000000000000000001Ti").nanos(), MustParse("0.1Ti").nanos() + 1);
}

TEST(Quantity, ComparesByValueWhateverTheFormat) {
  EXPECT_EQ(MustParse("1Ki"), MustParse("1024"));
  EXPECT_EQ(MustParse("1e3"), MustParse("1k"));
  EXPECT_LT(MustParse("999m"), MustParse("1"));
  EXPECT_GT(MustParse("1Gi"), MustParse("1G"));
  EXPECT_TRUE(Quantity().IsZero());
  EXPECT_EQ(Quantity().ToString(), "0");
  EXPECT_EQ(MustParse("-1n").Sign(), -1);
}

TEST(Quantity, SumsKeepTheirFormatUnlessZero) {
  Quantity total;
  total.Add(MustParse("1Gi"));
  total.Add(MustParse("1024M"));
  EXPECT_EQ(total.format(), Format::kBinarySI);
  EXPECT_EQ(total.ToString(), "2048576Ki");
  total.Sub(MustParse("1Gi"));
  EXPECT_EQ(total.Value(), 1'024'000'000);
  Quantity debt;
  debt.Sub(MustParse("250m"));
  EXPECT_EQ(debt.ToString(), "-250m");
}

TEST(Quantity, ProductsKeepTheFormatOfTheFirst) {
  const auto product = [](const char* a, const char* b) {
    Quantity result = MustParse(a);
    result.Multiply(MustParse(b));
    return result.ToString();
  };
  EXPECT_EQ(product("4Gi", "3"), "12Gi");
  EXPECT_EQ(product("3", "4Gi"), "12884901888");
  EXPECT_EQ(product("2", "500m"), "1");
  EXPECT_EQ(product("1n", "1n"), "1n");
  EXPECT_EQ(product("-1500m", "1500m"), "-2250m");
  EXPECT_EQ(product("7E", "1e3"), "7000E");  // the exact product in nano-units would not fit
  Quantity huge = MustParse("1e28");
  huge.Multiply(MustParse("1e28"));
  EXPECT_EQ(huge.Value(), std::numeric_limits<int64_t>::max());
}

TEST(Quantity, ComesFromNumbers) {
  EXPECT_EQ(Quantity::FromMilli(250).ToString(), "250m");
  EXPECT_EQ(Quantity::FromInt(2048, Format::kBinarySI).ToString(), "2Ki");
  EXPECT_EQ(Quantity::FromInt(std::numeric_limits<int64_t>::min()).Value(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Quantity::FromScaled(7, 6).ToString(), "7M");
  EXPECT_EQ(Quantity::FromScaled(1, -12).ToString(), "1n");
  EXPECT_EQ(MustParse("1500m").ScaledValue(-6), 1'500'000);
  EXPECT_EQ(MustParse("1500").ScaledValue(3), 2);
  EXPECT_DOUBLE_EQ(MustParse("1500m").AsDouble(), 1.5);
}

}  // namespace
}  // namespace berth::api
