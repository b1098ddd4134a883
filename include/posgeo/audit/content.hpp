// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/audit/intervention.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace posgeo::audit {

/// Numbers for the rows of a call. Shapes: those of qkv.
struct content_rows {
  tensor<double, 4> query;
  tensor<double, 4> key;
  tensor<double, 4> value;
};

/// Content says what the rows of an edited call hold: each row that has a source the content of that row, whatever its
/// storage row is now. Only content that adds coordinates to hidden states reads where the row stands.
template <class C>
concept audited_content = requires(const C& content, const position_call& call, const edited_call& from,
                                   const heads& layout, content_rows& rows) {
  { content.value_dim(layout) } -> std::same_as<index_t>;
  { content.positional_reads() } -> std::same_as<reads>;
  { content.describe() } -> std::same_as<std::vector<description>>;
  content.fill(call, from, layout, rows);
};

namespace detail {

/// Calls visit(entry, row, source) for each row of an edited space that has a source.
template <class Visit>
void each_source(const std::vector<row_source>& sources, index_t rows, const Visit& visit) {
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto at = static_cast<index_t>(n);
    if (sources[n].any()) visit(at / rows, at % rows, sources[n]);
  }
}

/// Refuses sources that name rows which a tensor of the original call does not have.
inline void expect_source(const row_source& source, index_t entries, index_t rows) {
  require(source.entry < entries && source.row >= 0 && source.row < rows, errc::row_identity, "content",
          "source of a row", text("entry below {}, row below {}", entries, rows),
          text("entry {}, row {}", source.entry, source.row));
}

}  // namespace detail

/// Random numbers of mean 0 and variance 1, drawn for each original row by its own key: every edit holds the same
/// content. The same on every machine.
struct random_content {
  std::uint64_t seed = 1;
  std::optional<index_t> width_of_values = std::nullopt;  ///< left out: head_dim

  [[nodiscard]] index_t value_dim(const heads& layout) const noexcept { return width_of_values.value_or(layout.dim); }
  [[nodiscard]] reads positional_reads() const noexcept { return reads::nothing; }
  [[nodiscard]] std::vector<description> describe() const { return {}; }

  void fill(const position_call& call, const edited_call& from, const heads& /*layout*/, content_rows& rows) const {
    const auto draw = [&](std::uint64_t side, const std::vector<row_source>& sources, index_t count,
                          tensor<double, 4>& to) {
      detail::each_source(sources, count, [&](index_t entry, index_t row, const row_source& source) {
        for (index_t h = 0; h < to.extent(1); ++h) {
          std::uint64_t key = seed;
          for (const std::uint64_t part : {side, static_cast<std::uint64_t>(source.entry),
                                           static_cast<std::uint64_t>(source.row), static_cast<std::uint64_t>(h)}) {
            key = mixed(key ^ mixed(part + 1));
          }
          for (double& number : to.view().row(entry, h, row)) {
            key = mixed(key);
            number = std::sqrt(3.0) * (static_cast<double>(key >> 11U) * 0x1p-52 - 1.0);  // uniform in +-sqrt(3)
          }
        }
      });
    };
    draw(1, from.query_source, call.queries(), rows.query);
    draw(2, from.key_source, call.keys(), rows.key);
    draw(3, from.key_source, call.keys(), rows.value);
  }

 private:
  /// The step and the finaliser of SplitMix64.
  static constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }
};

/// The caller's own rows of the original call. The memory stays the caller's.
/// Shapes: those of qkv for the original call.
/// Throws: errc::row_identity, when rows are taken, for a source that the tensors do not have.
template <class E>
class given_content {
 public:
  explicit given_content(const qkv<E>& rows) : rows_(rows) {}

  [[nodiscard]] index_t value_dim(const heads& /*layout*/) const noexcept { return rows_.value.extent(3); }
  [[nodiscard]] reads positional_reads() const noexcept { return reads::nothing; }
  [[nodiscard]] std::vector<description> describe() const { return {}; }

  void fill(const position_call& call, const edited_call& from, const heads& layout, content_rows& rows) const {
    const auto take = [&](const std::vector<row_source>& sources, index_t count, const heads_view<const E>& given,
                          index_t heads, tensor<double, 4>& to, std::string_view object) {
      require(given.extent(1) == heads && given.extent(3) == to.extent(3), errc::shape_mismatch, object,
              "heads and head_dim", text("{} x {}", heads, to.extent(3)),
              text("{} x {}", given.extent(1), given.extent(3)));
      detail::each_source(sources, count, [&](index_t entry, index_t row, const row_source& source) {
        detail::expect_source(source, given.extent(0), given.extent(2));
        for (index_t h = 0; h < heads; ++h) {
          const auto numbers = given.row(source.entry, h, source.row);
          std::transform(numbers.begin(), numbers.end(), to.view().row(entry, h, row).begin(),
                         [](E x) { return static_cast<double>(x); });
        }
      });
    };
    take(from.query_source, call.queries(), rows_.query, layout.query, rows.query, "query");
    take(from.key_source, call.keys(), rows_.key, layout.key_value, rows.key, "key");
    take(from.key_source, call.keys(), rows_.value, layout.key_value, rows.value, "value");
  }

 private:
  qkv<E> rows_;
};

}  // namespace posgeo::audit
