// SPDX-License-Identifier: MIT
#include "golden/safetensors.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"

namespace {

using posgeo::golden::parse_safetensors;

/// A file with the given header and so many data bytes 0, 1, 2, ...
std::vector<std::byte> file(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t size = header.size();
  std::vector<std::byte> bytes(sizeof size + header.size());
  std::memcpy(bytes.data(), &size, sizeof size);
  std::memcpy(bytes.data() + sizeof size, header.data(), header.size());
  for (std::size_t n = 0; n < data_bytes; ++n) bytes.push_back(static_cast<std::byte>(n));
  return bytes;
}

/// A header of a byte tensor a and an int32 tensor b with given places.
std::string header_of(const std::string& a, const std::string& b) {
  return R"({"__metadata__":{"k":"v"},"a":{"dtype":"U8","shape":[2,2],"data_offsets":)" + a +
         R"(},"b":{"dtype":"I32","shape":[1],"data_offsets":)" + b + "}}";
}

TEST_CASE("a well-formed file gives its tensors", "[safetensors]") {
  const auto tensors = parse_safetensors(file(header_of("[0,4]", "[4,8]"), 8));
  REQUIRE(tensors.size() == 2);
  CHECK(tensors.at("a").shape == std::vector<posgeo::index_t>{2, 2});
  CHECK(tensors.at("a").values == std::vector<double>{0, 1, 2, 3});
  CHECK(tensors.at("b").values == std::vector<double>{4 + 256 * (5 + 256 * (6 + 256 * 7))});
}

TEST_CASE("a file that contradicts itself is refused", "[safetensors]") {
  const auto refused = [](const std::vector<std::byte>& bytes, const std::string& why) {
    INFO(why);
    CHECK_THROWS_AS(parse_safetensors(bytes), std::runtime_error);
  };
  const auto good = file(header_of("[0,4]", "[4,8]"), 8);
  refused({}, "nothing");
  refused({good.begin(), good.begin() + 7}, "half a header length");
  refused({good.begin(), good.begin() + 40}, "half a header");
  refused({good.begin(), good.end() - 1}, "a data byte missing");
  refused(file(header_of("[0,4]", "[4,8]"), 9), "a data byte too many");
  refused(file(header_of("[0,4]", "[5,9]"), 9), "a gap");
  refused(file(header_of("[0,4]", "[3,7]"), 7), "an overlap");
  refused(file(header_of("[0,4]", "[4,7]"), 7), "fewer bytes than elements need");
  refused(file(header_of("[4,0]", "[4,8]"), 8), "an end before its begin");
  refused(file(header_of("[0,4]", "[4,8000]"), 8), "an end outside the file");
  refused(file("{\"a\":", 0), "no JSON");
  refused(file(R"({"a":{"dtype":"Q7","shape":[1],"data_offsets":[0,1]}})", 1), "an unknown element type");
  refused(file(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})", 0), "a negative extent");
  refused(file(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0), "a huge shape");
  refused(file(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1), "no shape");
  auto long_header = good;
  long_header[7] = std::byte{0x7f};
  refused(long_header, "a header length beyond the file");
}

}  // namespace
