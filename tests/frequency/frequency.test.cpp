// SPDX-License-Identifier: MIT
#include <posgeo/frequency/frequency.hpp>
#include <posgeo/frequency/geometric.hpp>

#include "support/catch.hpp"

namespace frequency_test {

using namespace posgeo;

struct plain {
  [[nodiscard]] index_t pairs() const { return 3; }
  [[nodiscard]] double at(index_t) const { return 0.5; }
};
struct with_factor : plain {
  [[nodiscard]] double attention_factor() const { return 1.25; }
};
struct with_length : plain {
  [[nodiscard]] index_t sequence_length() const { return 77; }
};
struct whole_radians : plain {
  [[nodiscard]] index_t at(index_t) const { return 1; }
};

static_assert(frequency_rule<plain> && frequency_rule<with_factor> && frequency_rule<with_length>);
static_assert(!frequency_rule<whole_radians> && !frequency_rule<int>);

TEST_CASE("a rule without a factor or a length has factor one and no length", "[frequency]") {
  CHECK(attention_factor_of(plain{}) == 1.0);
  CHECK(attention_factor_of(with_length{}) == 1.0);
  CHECK(attention_factor_of(with_factor{}) == 1.25);
  CHECK(sequence_length_of(plain{}) == std::nullopt);
  CHECK(sequence_length_of(with_factor{}) == std::nullopt);
  CHECK(sequence_length_of(with_length{}) == 77);
}

}  // namespace frequency_test
