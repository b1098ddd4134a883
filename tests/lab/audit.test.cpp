// SPDX-License-Identifier: MIT
#include <posgeo/audit/encoded_content.hpp>
#include <posgeo/audit/examine.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/lab_tokens.hpp"
#include "support/random.hpp"

// The laboratory again, through an audit. Expected numbers: the same program in NumPy, double precision.
namespace lab_audit_test {

using namespace posgeo;
using namespace posgeo::test;
using audit::finding;
using audit::intervention;
using audit::report;
using audit::verdict;

position_call the_call() {
  return call_at({lab::base_positions[4]}, {lab::base_positions.begin(), lab::base_positions.begin() + 4});
}
tensor<double, 3> states(std::size_t first, std::size_t count) {
  tensor<double, 3> out({1, static_cast<index_t>(count), lab::width});
  for (std::size_t r = 0; r < count; ++r) {
    const lab::row& token = lab::tokens[first + r];
    std::copy(token.begin(), token.end(), out.view().row(0, static_cast<index_t>(r)).begin());
  }
  return out;
}
table<double> weights(const lab::matrix& of) {
  std::vector<double> numbers;
  for (const lab::row& row : of) numbers.insert(numbers.end(), row.begin(), row.end());
  return {numbers, lab::width, lab::width};
}
audit::projections projections() {
  return {weights(lab::query_weights), weights(lab::key_weights), weights(lab::key_weights)};
}
/// Adds nothing: the schemes that act on projected rows.
struct no_encoder {
  using family = posgeo::family::state_encoder;
  struct term {
    [[nodiscard]] index_t width() const noexcept { return lab::width; }
    void add_to(batch_index, query_index, std::span<double>) const noexcept {}
  };
  template <class T>
  [[nodiscard]] term compile(const position_call&) const {
    return {};
  }
  [[nodiscard]] static reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] static description describe() { return description("no_encoder"); }
};

/// The lab's two sliders: 17 for all positions, 5 for the query's alone; and a place that no table has.
template <class Encoder, class... Policies>
report examined(const Encoder& encoder, const Policies&... policy) {
  const attention model{heads{.query = 1, .key_value = 1, .dim = lab::width}, scale::inverse_sqrt_head_dim{},
                        visible::everything{}, policy...};
  const position_call call = the_call();
  const audit::encoded_content content(encoder, states(4, 1), states(0, 4), projections());
  return audit::examine<double>(
      audit::as_function(eager{}), model, call,
      {.name = "lab",
       .edits = std::vector{audit::shift_all(call, {.shift = 17}), audit::shift_queries(call, {.shift = 5}),
                            audit::out_of_range(call, {.far = 1000000})}},
      content);
}
double weights_moved(const report& of, std::size_t n) { return of.findings[n].measured.weights.value(); }
bool owes(const report& of, audit::debt kind) {
  return std::any_of(of.debts.begin(), of.debts.end(), [kind](const audit::owed& one) { return one.kind == kind; });
}
void check_as_declared(const report& of) {
  CHECK(audit::faults(of) == 0);
  for (const finding& one : of.findings) {
    CAPTURE(name_of(one.kind), one.message);
    CHECK((one.as_expected() || audit::outcome_of(one) == audit::outcome::not_seen));
  }
}

TEST_CASE("an audit of the laboratory without positions finds nothing moved", "[lab]") {
  const report got = examined(no_encoder{});
  check_as_declared(got);
  CHECK(weights_moved(got, 0) == 0.0);
  CHECK(weights_moved(got, 1) == 0.0);
  CHECK(got.debts.empty());
}

TEST_CASE("an audit of the laboratory's sinusoids owes for the origin", "[lab]") {
  const encode::sinusoidal sinusoids({.width = lab::width,
                                      .layout = encode::sinusoid_layout::interleaved,
                                      .exponent = encode::sinusoid_exponent::paper});
  const report got = examined(sinusoids);
  check_as_declared(got);
  CHECK(got.findings[0].found == verdict::changes);
  CHECK_THAT(weights_moved(got, 0), WithinAbs(0.484803660112, 1e-10));
  CHECK_THAT(weights_moved(got, 1), WithinAbs(0.250487247360, 1e-10));
  CHECK(owes(got, audit::debt::coordinate));
  CHECK_FALSE(owes(got, audit::debt::procedure));
}

TEST_CASE("an audit of the laboratory's rotation owes nothing for the origin", "[lab]") {
  const report got =
      examined(no_encoder{}, transform::rotary(frequency::geometric({.base = 10000.0, .rotary_dim = lab::width}),
                                               {.pairs = transform::pairing::adjacent}));
  check_as_declared(got);
  CHECK(got.findings[0].found == verdict::invariant);
  CHECK(weights_moved(got, 0) < 1e-10);
  CHECK_THAT(weights_moved(got, 1), WithinAbs(0.027762074786, 1e-10));
  CHECK_FALSE(owes(got, audit::debt::coordinate));
}

TEST_CASE("an audit of the laboratory's linear bias sees a gap in the log-sum-exp alone", "[lab]") {
  const report got =
      examined(no_encoder{}, bias::alibi(bias::alibi_slopes::custom({0.12}), bias::alibi_direction::symmetric));
  check_as_declared(got);
  CHECK(got.findings[0].found == verdict::invariant);
  CHECK(weights_moved(got, 1) < 1e-10);
  CHECK_THAT(got.findings[1].measured.log_sum_exp.value(), WithinAbs(5 * 0.12, 1e-10));
  CHECK(got.findings[1].found == verdict::changes);
  CHECK_FALSE(owes(got, audit::debt::coordinate));
}

TEST_CASE("an audit of a learned table owes for the origin and for its range", "[lab]") {
  const report got = examined(encode::learned_absolute<double>(random_table(32, lab::width, 7), {.row_offset = 0}));
  check_as_declared(got);
  CHECK(got.findings[2].found == verdict::refused);
  CHECK(got.findings[2].message.find("32") != std::string::npos);
  CHECK(owes(got, audit::debt::coordinate));
  REQUIRE(owes(got, audit::debt::procedure));
  const auto said = [&got](std::string_view words) {
    return std::any_of(got.debts.begin(), got.debts.end(),
                       [words](const audit::owed& one) { return one.because.find(words) != std::string::npos; });
  };
  CHECK(said("positions from 0 to 31"));
  CHECK(said("out_of_range (all positions +1000000) is refused"));
}

}  // namespace lab_audit_test
