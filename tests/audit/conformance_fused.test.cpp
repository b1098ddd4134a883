// SPDX-License-Identifier: MIT
#include <posgeo/attend/fused.hpp>
#include <posgeo/audit/conformance.hpp>
#include <posgeo/audit/function.hpp>
#include <posgeo/audit/print_conformance.hpp>
#include <posgeo/visible/segments.hpp>

#include "support/catch.hpp"

namespace posgeo::conformance_fused_test {

TEST_CASE("the fused executor conforms in every class of geometry") {
  using namespace posgeo::audit;
  constexpr heads layout{.query = 6, .key_value = 2, .dim = 6};
  constexpr visible::segments own{};
  const auto report =
      conformance<float>(as_function(fused{}), {.calls = all_calls}, cases::alibi(layout, own),
                         cases::shaw(layout, own), cases::deberta(layout, content::p2c_index::paper, own),
                         cases::rotary(layout, transform::pairing::halves, own), cases::sink(layout, own));
  INFO(fmt::format("{}", report));
  CHECK(report.conforms());
}

}  // namespace posgeo::conformance_fused_test
