// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/core/tensor.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

// Each case builds a mistake whose every tensor has the right shape, and shows what catches it.
namespace shape_and_layout_lab {

using namespace posgeo;
using namespace posgeo::test;

constexpr index_t width = 6;

encode::sinusoidal waves() {
  return encode::sinusoidal(
      {.width = width, .layout = encode::sinusoid_layout::concatenated, .exponent = encode::sinusoid_exponent::paper});
}

position_call batch_of(const std::vector<index_t>& lengths, index_t rows) {
  return call::padded_batch({.lengths = lengths,
                             .rows = rows,
                             .side = call::padding_side::right,
                             .positions = call::padded_positions::contiguous()});
}

TEST_CASE("slicing the table with the batch length", "[failure_lab]") {
  // Three entries of five rows. The mistake hands over the first three rows of every entry.
  const auto call = batch_of({5, 5, 5}, 5);
  tensor<double, 3> sliced({3, 3, width});
  const auto thrown = refusal([&] { encode::add_positions(waves(), call, sliced.view()); });
  CHECK(thrown.code() == errc::shape_mismatch);
  CHECK(std::string(thrown.what()) == "states, rows: expected 5, got 3");
}

TEST_CASE("mixing sequence first and batch first memory", "[failure_lab]") {
  // [sequence, batch, width] memory handed over as [batch, sequence, width]: refused where the extents differ.
  tensor<double, 3> sequence_first({5, 2, width});
  CHECK(refusal([&] {
          encode::add_positions(waves(), batch_of({5, 5}, 5), sequence_first.view());
        }).code() == errc::shape_mismatch);

  // Where they are equal, the oracle: every entry's row r must receive what position r receives.
  const index_t n = 4;
  const auto call = batch_of({n, n, n, n}, n);
  const auto right = encoded(waves(), call);
  tensor<double, 3> memory({n, n, width});
  encode::add_positions(waves(), call, memory.view());  // taken for batch first
  const states_view<double> as_sequence_first(memory.view().row(0, 0).data(), {n, n, width}, {width, n * width});
  double mistaken = 0.0;
  for (index_t b = 0; b < n; ++b) {
    for (index_t row = 0; row < n; ++row) {
      mistaken = std::max(mistaken, largest_difference(as_sequence_first.row(b, row), right.view().row(b, row)));
    }
  }
  CHECK(mistaken > 0.1);

  // The cure: the view says how the memory is laid out.
  tensor<double, 3> other({n, n, width});
  const states_view<double> named(other.view().row(0, 0).data(), {n, n, width}, {width, n * width});
  encode::add_positions(waves(), call, named);
  for (index_t b = 0; b < n; ++b) {
    for (index_t row = 0; row < n; ++row) {
      CHECK(largest_difference(named.row(b, row), right.view().row(b, row)) == 0.0);
    }
  }
}

TEST_CASE("broadcasting the table over the wrong axis", "[failure_lab]") {
  // The oracle: entries that hold the same content at the same positions stay equal; rows of one entry do not.
  const index_t n = 3;
  const auto added = encoded(waves(), batch_of({n, n, n}, n));
  tensor<double, 3> wrong({n, n, width});
  for (index_t b = 0; b < n; ++b) {
    for (index_t row = 0; row < n; ++row) {
      const auto by_entry = encoded_row(waves(), b);
      std::copy(by_entry.begin(), by_entry.end(), wrong.view().row(b, row).begin());
    }
  }
  const auto entries_agree = [&](const tensor<double, 3>& states) {
    return largest_difference(states.view().row(0, 1), states.view().row(2, 1)) == 0.0 &&
           largest_difference(states.view().row(1, 0), states.view().row(1, 2)) > 0.1;
  };
  CHECK(entries_agree(added));
  CHECK_FALSE(entries_agree(wrong));
}

TEST_CASE("a fixed table that is left behind when its model moves", "[failure_lab]") {
  // There is no buffer to forget: a policy is a value, and its copy outlives the original with the same numbers.
  std::vector<double> first;
  encode::sinusoidal kept = waves();
  {
    auto original = std::make_unique<encode::sinusoidal>(waves());
    first = encoded_row(*original, 9);
    kept = *original;
  }
  CHECK(largest_difference(encoded_row(kept, 9), first) == 0.0);
}

TEST_CASE("a fixed table that became trainable", "[failure_lab]") {
  // No member hands out a number that could be written.
  STATIC_REQUIRE(std::is_same_v<decltype(waves().frequencies()), const std::vector<double>&>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<posgeo::table<double>&>().values()), std::span<const double>>);

  // The oracle for a stored table: its rows obey the composition law of a shift, which one step of training breaks.
  const auto law_broken_by = [](const auto& row) {
    double most = 0.0;
    for (std::size_t pair = 0; pair < width / 2; ++pair) {
      const double w = waves().frequencies()[pair];
      const auto at_2 = row(2);
      const auto at_5 = row(5);
      const double sine = at_2[pair] * std::cos(3 * w) + at_2[pair + width / 2] * std::sin(3 * w);
      most = std::max(most, std::abs(sine - at_5[pair]));
    }
    return most;
  };
  CHECK(law_broken_by([](index_t p) { return encoded_row(waves(), p); }) < 1e-14);
  CHECK(law_broken_by([](index_t p) {
          auto row = encoded_row(waves(), p);
          const auto step = random_values<double>(row.size(), static_cast<unsigned>(p));
          for (std::size_t d = 0; d < row.size(); ++d) row[d] += 1e-3 * step[d];
          return row;
        }) > 1e-5);
}

}  // namespace shape_and_layout_lab
