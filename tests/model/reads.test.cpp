// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/content/distance_rows.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/toy_policies.hpp"
#include "support/uneven_call.hpp"

// What an attention reads, takes and hides, and what is left of it without its mask.
namespace reads_test {

using namespace posgeo;
using namespace posgeo::test;
using visible::active;
using visible::causal;
using visible::everything;
using visible::segments;
using visible::window;

constexpr heads two{.query = 2, .key_value = 1, .dim = 4};
const bias::alibi far_is_less(bias::alibi_slopes::custom({0.5, 0.25}), bias::alibi_direction::symmetric);

static_assert(says_reads<bias::alibi> && says_reads<visible::all_of<active, causal>> && !says_reads<toy_content>);

TEST_CASE("an attention reads what its policies read together", "[reads]") {
  CHECK(attention{two, scale::none{}, everything{}}.positional_reads() == reads::nothing);
  CHECK(attention{two, scale::none{}, active{}, far_is_less}.positional_reads() == (reads::padding | reads::distance));
  CHECK(attention{two, scale::none{}, visible::all_of{segments{}, causal{}}, far_is_less}.positional_reads() ==
        (reads::padding | reads::sequence | reads::ahead | reads::distance));
}

TEST_CASE("a window reads what its two sides tell apart", "[reads]") {
  const index_t all = window::unbounded;
  CHECK(window{.behind = 3, .ahead = 3}.positional_reads() == reads::distance);
  CHECK(window{.behind = 3, .ahead = 2}.positional_reads() == reads::offset);
  CHECK(window{.behind = all, .ahead = 0}.positional_reads() == reads::ahead);
  CHECK(window{.behind = 0, .ahead = all}.positional_reads() == reads::behind);
  CHECK(window{.behind = all, .ahead = 1}.positional_reads() == reads::offset);
  CHECK(window{.behind = all, .ahead = all}.positional_reads() == reads::frame);
}

TEST_CASE("an attention takes the range that all of its policies take", "[reads]") {
  const auto rows = head_tables<double>::shared(random_table(12, 4, 31));
  const content::tupe<double> untied({.queries = rows, .keys = rows}, content::tupe_cls::untouched());
  const transform::rotary turned(
      frequency::dynamic_ntk(
          {.base = 100.0, .rotary_dim = 4, .factor = 2.0, .original_max_position = 4, .sequence_length = 9}),
      {.pairs = transform::pairing::halves, .offset = 3});
  CHECK(attention{two, scale::none{}, everything{}}.range() == positional_range{});
  CHECK(attention{two, scale::none{}, everything{}, untied}.range() ==
        positional_range{.lowest_position = 0, .highest_position = 11});
  CHECK(attention{two, scale::none{}, everything{}, untied, turned}.range() ==
        positional_range{.lowest_position = 0, .highest_position = 5});
  // Ends are included: the check of the attention draws the line at the same place.
  const attention model{two, scale::inverse_sqrt_terms{}, active{}, untied, turned};
  const auto found = [&](index_t first) {
    const std::vector<index_t> lengths{3};
    return codes(model.check(call::padded_batch({.lengths = lengths,
                                                 .rows = 3,
                                                 .side = call::padding_side::right,
                                                 .positions = call::padded_positions::contiguous(first)})));
  };
  CHECK(found(0).empty());
  CHECK(found(3).empty());
  CHECK(found(4).front() == errc::sequence_length);
  CHECK(found(-1).front() == errc::position_out_of_table);
}

TEST_CASE("an attention takes the offsets that all of its policies take", "[reads]") {
  const auto classes = [](index_t behind, index_t ahead) {
    return bias::learned_relative(random_table(behind + ahead + 1, 2, 32),
                                  coordinate::clipped({.behind = behind,
                                                       .ahead = ahead,
                                                       .sign = offset_sign::query_minus_key,
                                                       .beyond = coordinate::beyond_ends::refused}));
  };
  const content::distance_rows<double> rows(head_tables<double>::shared(random_table(9, 4, 33)),
                                            {.lowest = -2, .order = content::distance_order::ascending});
  const content::transformer_xl<double, content::distance_rows<double>> memory(
      {.content = random_table(2, 4, 34), .position = random_table(2, 4, 35)}, rows);
  const attention model{two, scale::none{}, everything{}, classes(4, 3), memory};
  CHECK(model.range() == positional_range{.lowest_offset = -4, .highest_offset = 2});
  const auto taken = [&](index_t offset) { return model.check(call_at({10}, {10 + offset})).empty(); };
  CHECK((taken(-4) && taken(2)));
  CHECK_FALSE((taken(-5) || taken(3)));
  // Where nothing is said of keys ahead, it is a mask that refuses them.
  CHECK(attention{two, scale::none{}, causal{}, classes(4, 0)}.range() == positional_range{.lowest_offset = -4});
}

TEST_CASE("an attention without its mask still hides padding and other sequences", "[reads]") {
  const auto hidden = [](const auto&... mask) { return attention{two, scale::none{}, mask...}.unmasked().hidden(); };
  CHECK(hidden(causal{}) == hides::nothing);
  CHECK(hidden(active{}, causal{}) == hides::padding);
  CHECK(hidden(segments{}, window{.behind = 2, .ahead = 0}) == (hides::padding | hides::other_segments));
  CHECK(hidden(visible::all_of{active{}, causal{}}) == hides::padding);
  CHECK(hidden(visible::any_of{segments{}, causal{}}) == hides::nothing);
  CHECK(hidden(visible::any_of{segments{}, active{}}) == hides::padding);
  const auto see = [](const position_call&, batch_index, query_index, key_index) { return true; };
  CHECK(hidden(visible::custom(see, hides::padding | hides::future)) == hides::nothing);
}

TEST_CASE("an attention without its mask shows exactly the tokens of the sequence", "[reads]") {
  const attention masked{two, scale::none{}, visible::all_of{segments{}, causal{}}, window{.behind = 1, .ahead = 0}};
  const position_call call = uneven_call();
  const auto open = masked.unmasked().compile<double>(call);
  const auto rows = segments{}.compile<double>(call, two);
  const auto plan = masked.compile<double>(call);
  index_t opened = 0;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        CHECK(open.visible(b, i, j) == rows(b, i, j));
        opened += open.visible(b, i, j) && !plan.visible(b, i, j) ? 1 : 0;
      }
    }
  }
  CHECK(opened > 0);
  const attention biased{two, scale::none{}, segments{}, causal{}, far_is_less};
  CHECK(biased.unmasked().compile<double>(call).bias(batch_index{0}, head_index{1}, query_index{0}, key_index{0}) ==
        biased.compile<double>(call).bias(batch_index{0}, head_index{1}, query_index{0}, key_index{0}));
}

TEST_CASE("a policy that says nothing of what it reads is still a policy", "[reads]") {
  const attention model{two, scale::none{}, everything{}, toy_content{}};
  CHECK(model.hidden() == hides::nothing);
  CHECK(model.range() == positional_range{});
}

}  // namespace reads_test
