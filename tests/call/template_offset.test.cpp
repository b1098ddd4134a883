// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/template_offset.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace template_offset_test {

using namespace posgeo;
using namespace posgeo::test;

index_t offset(index_t wanted, index_t from_tokenizer, index_t from_template, index_t markup) {
  return call::template_offset({.bos_wanted = wanted,
                                .bos_from_tokenizer = from_tokenizer,
                                .bos_from_template = from_template,
                                .markup = markup});
}

TEST_CASE("content stands behind every row of the template", "[template_offset]") {
  CHECK(offset(0, 0, 0, 0) == 0);
  CHECK(offset(1, 1, 0, 0) == 1);
  CHECK(offset(1, 0, 1, 6) == 7);
  const std::vector<index_t> lengths{4};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 4,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(offset(1, 1, 0, 6))});
  for (index_t row = 0; row < 4; ++row) CHECK(call.key_space().at(0, row).value() == 7 + row);
}

TEST_CASE("a second and a missing begin of sequence are refused", "[template_offset]") {
  const auto refused = [](index_t wanted, index_t from_tokenizer, index_t from_template, index_t markup) {
    return refusal([&] { return offset(wanted, from_tokenizer, from_template, markup); });
  };
  CHECK(refused(1, 1, 1, 5).code() == errc::position_rule);
  CHECK(refused(1, 0, 0, 5).code() == errc::position_rule);
  CHECK(refused(0, 0, 1, 5).code() == errc::position_rule);
  CHECK(refused(1, -1, 2, 5).code() == errc::position_rule);
  CHECK(refused(1, 1, 0, -5).code() == errc::position_rule);
  CHECK(refused(-1, 0, 0, 0).code() == errc::position_rule);
  CHECK(refused(2, 1, 1, 5).code() == errc::position_rule);  // two begins of sequence, even if both are wanted
  CHECK(refused(1, 1, 0, position_limit + 1).code() == errc::position_rule);
}

}  // namespace template_offset_test
