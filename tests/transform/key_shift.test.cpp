// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/proportional.hpp>
#include <posgeo/transform/key_shift.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace key_shift_test {

using namespace posgeo;
using namespace posgeo::test;
using transform::key_shift;
using transform::pairing;

/// Speeds with a factor on cosines and sines.
struct louder {
  [[nodiscard]] index_t pairs() const { return 3; }
  [[nodiscard]] double at(index_t pair) const { return 0.4 / static_cast<double>(1 + pair); }
  [[nodiscard]] double attention_factor() const { return 1.25; }
};

template <class Rotary>
std::vector<double> written_at(const Rotary& turn, index_t p) {
  auto key = random_values<double>(9, 51);
  turn.rotate(position{p}, std::span<double>(key));
  return key;
}

TEST_CASE("shifts of a cached key add up to the key turned where it stands", "[key_shift]") {
  for (const pairing pairs : {pairing::adjacent, pairing::halves}) {
    // an offset of the rotation is no part of a shift
    const transform::rotary turn(frequency::geometric({.base = 300.0, .rotary_dim = 6}), {.pairs = pairs, .offset = 5});
    auto key = written_at(turn, 40);
    const auto stored = key;
    key_shift moves(position{40});
    moves.shift(relative_offset{-13});
    moves.shift(relative_offset{-8});
    CHECK(moves.at() == position{19});
    CHECK(moves.pending() == relative_offset{-21});
    CHECK(key == stored);
    moves.apply(turn, std::span<double>(key));
    CHECK(largest_difference(key, written_at(turn, 19)) < 1e-13);
    CHECK(std::equal(key.begin() + 6, key.end(), stored.begin() + 6));

    CHECK(moves.pending() == relative_offset{0});
    const auto applied = key;
    moves.apply(turn, std::span<double>(key));  // nothing is left to apply
    CHECK(key == applied);
    moves.shift(relative_offset{30});
    moves.apply(turn, std::span<double>(key));
    CHECK(moves.at() == position{49});
    CHECK(largest_difference(key, written_at(turn, 49)) < 1e-13);
  }
}

TEST_CASE("a shift does not apply the attention factor again", "[key_shift]") {
  const louder slow;
  const transform::rotary turn(slow, {.pairs = pairing::halves});
  auto key = written_at(turn, 12);
  key_shift moves(position{12});
  moves.shift(relative_offset{-4});
  moves.apply(turn, std::span<double>(key));
  CHECK(largest_difference(key, written_at(turn, 8)) < 1e-13);
}

TEST_CASE("key shift refuses positions, rows and frequencies that it cannot be exact for", "[key_shift]") {
  const transform::rotary turn(frequency::geometric({.base = 300.0, .rotary_dim = 6}), {.pairs = pairing::halves});
  CHECK(refusal([] { return key_shift(position{position_limit + 1}); }).code() == errc::position_overflow);
  key_shift moves(position{position_limit - 1});
  CHECK(refusal([&] { moves.shift(relative_offset{2}); }).code() == errc::position_overflow);
  CHECK(moves.at() == position{position_limit - 1});  // a refused shift leaves nothing behind
  CHECK(moves.pending() == relative_offset{0});

  const auto row = random_values<double>(6, 52);
  auto key = row;
  key_shift far(position{0});
  far.shift(relative_offset{(index_t{1} << 53) + 1});
  CHECK(refusal([&] { far.apply(turn, std::span<double>(key)); }).code() == errc::position_precision);
  key_shift near(position{3});
  near.shift(relative_offset{1});
  CHECK(refusal([&] { near.apply(turn, std::span<double>(key).subspan(1)); }).code() == errc::shape_mismatch);

  const transform::rotary six(frequency::proportional({.base = 300.0, .rotary_dim = 4, .head_dim = 6}),
                              {.pairs = pairing::halves});
  auto eight = random_values<double>(8, 53);
  CHECK(refusal([&] { near.apply(six, std::span<double>(eight)); }).code() == errc::shape_mismatch);
  CHECK(eight == random_values<double>(8, 53));

  struct by_length {
    [[nodiscard]] index_t pairs() const { return 3; }
    [[nodiscard]] double at(index_t) const { return 0.5; }
    [[nodiscard]] index_t sequence_length() const { return 100; }
  };
  const transform::rotary dynamic(by_length{}, {.pairs = pairing::halves});
  CHECK(refusal([&] { near.apply(dynamic, std::span<double>(key)); }).code() == errc::sequence_length);
  CHECK(key == row);
}

}  // namespace key_shift_test
