// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/encode/state_encoder.hpp>

namespace posgeo::encode {

/// The term of an encoder that is a function of the position alone; padding receives nothing. Encoder says `width()`,
/// `capacity()`, how many positions from 0 on it has, and, noexcept, `for_each_column(position, put)`.
template <class T, class Encoder>
class of_positions {
 public:
  /// Throws: errc::position_out_of_table for a position without a code.
  of_positions(Encoder encoder, position_call call, std::string_view object)
      : encoder_(std::move(encoder)), call_(std::move(call)) {
    violations found;
    for (const batch_index b : indices<batch_index>(call_.batch())) {
      for (const query_index i : indices<query_index>(call_.queries())) {
        const index_t p = call_.at(b, i).value();
        found.expect(!call_.active(b, i) || (p >= 0 && p < encoder_.capacity()), errc::position_out_of_table, object,
                     text("position of row {} in entry {}", i.value(), b.value()),
                     text("0..{}", encoder_.capacity() - 1), p);
      }
    }
    found.throw_if_any();
  }

  [[nodiscard]] index_t width() const noexcept { return encoder_.width(); }
  void add_to(batch_index b, query_index i, std::span<T> row) const noexcept {
    if (!call_.active(b, i)) return;
    encoder_.for_each_column(call_.at(b, i).value(), [&](index_t column, double value) {
      row[static_cast<std::size_t>(column)] += static_cast<T>(value);
    });
  }
  [[nodiscard]] static nothing_learned gradient() noexcept { return {}; }

 private:
  Encoder encoder_;
  position_call call_;
};

}  // namespace posgeo::encode
