// SPDX-License-Identifier: MIT
#include <posgeo/core/label.hpp>

#include <string>
#include <type_traits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::refusal;

TEST_CASE("a label keeps up to 31 characters and refuses 32", "[label]") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<label>);
  for (std::size_t length = 0; length <= label::max_length; ++length) {
    const std::string text(length, 'x');
    REQUIRE(label{text}.text() == text);
  }
  CHECK(label::max_length == 31);
  CHECK(refusal([] { return label{std::string(32, 'x')}; }).code() == errc::label_length);
}

TEST_CASE("labels are equal when their texts are", "[label]") {
  const std::string full(31, 'y');
  CHECK(label{} == label{""});
  CHECK(label{full} == label{full});
  CHECK_FALSE(label{full} == label{full.substr(1)});
  CHECK_FALSE(label{"source"} == label{"sourc"});
  CHECK_FALSE(label{"source"} == label{"target"});
  CHECK_FALSE(label{""} == label{std::string_view("\0", 1)});
}

}  // namespace
