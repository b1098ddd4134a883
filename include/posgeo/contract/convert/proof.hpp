// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/proof_run.hpp>

#include <cmath>
#include <limits>

namespace posgeo::contract {

/// Why a conversion is one: what stays the same, and the largest difference that posgeo's own policies see between the
/// source's tensors under its contract and the converted ones under theirs.
struct conversion_proof {
  std::vector<std::string> identities;
  double largest_difference = 0.0;
  double bound = 0.0;    ///< 0 where the same numbers are added in the same order; else a multiple of epsilon
  index_t compared = 0;  ///< scores, and outputs where the values have a term
};

/// Runs both contracts on the same random rows: two entries, unequal numbers of queries and keys, starts other than 0,
/// offsets or positions that read every row which any offset or position reads. Classes that only look back are asked
/// where keys are not ahead.
/// Throws: errc::conversion if a difference is beyond the bound, which is 0, or, where sums are formed in another
///         order, 4 * (head_dim + width) * epsilon times the largest sum of the products' absolute values; if numbers
///         are too large for a bound or a score in T.
template <class T = double>
[[nodiscard]] conversion_proof prove(const checkpoint_contract& source, const named_tensors& before,
                                     const conversion_state& converted, std::uint64_t seed) {
  using namespace convert_detail;
  const checkpoint_contract& target = converted.contract;
  const bool absolute =
      source.family == checkpoint_family::learned_absolute || source.family == checkpoint_family::sinusoidal;
  const drawn_positions positions =
      source.family == checkpoint_family::rotary ? positions_anywhere(seed)
      : absolute
          ? positions_to(
                std::min(*source.rows.value() - source.row_offset, *target.rows.value() - target.row_offset) - 1, seed)
          : positions_around(source, target, seed);
  const auto pairs = looks_back_only(source) ? proof_pairs::not_ahead : proof_pairs::all;
  const auto a = proof_run<T>(source, before, positions, pairs, seed).result();
  const auto b = proof_run<T>(target, converted.tensors, positions, pairs, seed).result();

  conversion_proof proof{.identities = converted.identities};
  proof.compared = static_cast<index_t>(a.numbers.size());
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (std::size_t n = 0; n < a.numbers.size(); ++n) {
    require(a.numbers[n] < infinity, errc::conversion, "conversion", "proof", "scores that its type can hold",
            a.numbers[n]);
    if (a.numbers[n] == b.numbers[n]) continue;
    double difference = std::abs(static_cast<double>(a.numbers[n]) - static_cast<double>(b.numbers[n]));
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    proof.largest_difference = std::max(proof.largest_difference, difference);
  }
  if (converted.arithmetic == step_arithmetic::other_order) {
    index_t width = 0;
    for (const auto& [role, tensor] : before) width = std::max(width, tensor.extents.back());
    const double terms = 4.0 * static_cast<double>(source.heads.dim + width);
    proof.bound = terms * double{std::numeric_limits<T>::epsilon()} * std::max(a.magnitude, b.magnitude);
    require(std::isfinite(proof.bound), errc::conversion, "conversion", "proof", "products whose sum is finite",
            proof.bound);
  }
  require(proof.largest_difference <= proof.bound, errc::conversion, "conversion", "proof",
          text("scores that differ by at most {}", proof.bound), proof.largest_difference);
  return proof;
}

}  // namespace posgeo::contract
