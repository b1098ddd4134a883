// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/load_report.hpp>
#include <posgeo/contract/release_tuple.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>
#include <vector>

namespace posgeo::contract {

/// How far the release of a resized position table has come.
enum class release_state {
  draft,
  table_migrated,
  optimizer_migrated,  ///< only where training goes on
  checkpoint_reconciled,
  base_range_regression_pass,
  extended_range_evaluated,
  released,
};
inline constexpr std::size_t release_state_count = 7;

[[nodiscard]] constexpr std::string_view name_of(release_state state) noexcept {
  constexpr std::array<std::string_view, release_state_count> names{"DRAFT",
                                                                    "TABLE_MIGRATED",
                                                                    "OPTIMIZER_MIGRATED",
                                                                    "CHECKPOINT_RECONCILED",
                                                                    "BASE_RANGE_REGRESSION_PASS",
                                                                    "EXTENDED_RANGE_EVALUATED",
                                                                    "RELEASED"};
  return names[static_cast<std::size_t>(state)];
}

/// Whether training goes on from the migrated checkpoint, so that its optimizer must be migrated.
enum class training { continues, ends };

/// The one state that may follow; the last follows itself.
[[nodiscard]] constexpr release_state next_of(release_state state, training then) noexcept {
  if (state == release_state::released) return state;
  if (state == release_state::table_migrated && then == training::ends) return release_state::checkpoint_reconciled;
  return static_cast<release_state>(static_cast<int>(state) + 1);
}
[[nodiscard]] constexpr bool is_legal_step(release_state from, release_state to, training then) noexcept {
  return from != release_state::released && to == next_of(from, then);
}

/// What each step has to show. A field left out does not compile.
namespace evidence {

/// For TABLE_MIGRATED: the parameter, the config and the generated ids as they are now.
struct migrated_table {
  required<index_t> table_rows;
  required<index_t> config_max_position_embeddings;
  required<index_t> generated_ids_end;
  required<index_t> row_offset;
};
/// For OPTIMIZER_MIGRATED: rows of every optimizer tensor of the table.
struct migrated_optimizer {
  std::vector<index_t> rows;
};
/// For CHECKPOINT_RECONCILED: what became of every tensor of the checkpoint.
struct reconciled_checkpoint {
  required<load_report> report;
};
/// For BASE_RANGE_REGRESSION_PASS: positions 0 .. positions - 1 compared with the old release.
struct base_range {
  required<index_t> positions;
  required<double> largest_difference;
  required<double> allowed_difference;
};
/// What is claimed of the rows of the extended range.
enum class row_claim {
  initialised,  ///< they exist
  trained,      ///< each was read in training
};
/// For EXTENDED_RANGE_EVALUATED: positions [first, end) measured, and how often training has read the row of each.
struct extended_range {
  required<index_t> first;
  required<index_t> end;
  required<row_claim> claim;
  std::vector<index_t> updates;  ///< one for each position of the range
};
/// For RELEASED: what the runtime admits.
struct runtime_limit {
  backend_id backend;
  required<index_t> positions;
};

}  // namespace evidence

using release_evidence =
    std::variant<evidence::migrated_table, evidence::migrated_optimizer, evidence::reconciled_checkpoint,
                 evidence::base_range, evidence::extended_range, evidence::runtime_limit>;

/// The state that evidence leads to.
[[nodiscard]] inline release_state state_of(const release_evidence& shown) noexcept {
  return static_cast<release_state>(shown.index() + 1);
}

/// The way of an enlarged position table from a draft to a release, and back. One tuple is live: the old one until
/// RELEASED, then the new one, and the old one again, whole, after a rollback. Caches are of the tuple and of the
/// generation that made them: neither a release nor a rollback lets an older one be read.
/// Throws: errc::release_step, when built, for a new tuple with the old one's release_id or checkpoint_id, or no longer
///         table; for a step that is not the next one, and for evidence that does not show what the step claims.
/// Source: the release and rollback state machine of the positional-call manifest numinens.position-call.v1.
class position_release {
 public:
  position_release(release_tuple old, release_tuple proposed, training then)
      : old_(std::move(old)), new_(std::move(proposed)), training_(then) {
    violations found;
    expect(old_.release_id != new_.release_id, "release_id of the new tuple", "another than the old one",
           new_.release_id.name(), found);
    expect(old_.checkpoint_id != new_.checkpoint_id, "checkpoint_id of the new tuple", "another than the old one",
           new_.checkpoint_id.name(), found);
    expect(new_.config_max_position_embeddings > old_.config_max_position_embeddings,
           "config_max_position_embeddings of the new tuple",
           text("more than {}", index_t{old_.config_max_position_embeddings}),
           index_t{new_.config_max_position_embeddings}, found);
    found.throw_if_any();
  }

  [[nodiscard]] release_state state() const noexcept { return state_; }
  [[nodiscard]] const release_tuple& live() const noexcept { return state_ == release_state::released ? new_ : old_; }

  /// Takes the next step, or throws and stays.
  void advance(const release_evidence& shown) {
    const release_state to = state_of(shown);
    require(is_legal_step(state_, to, training_), errc::release_step, "release", "next state",
            state_ == release_state::released ? std::string("none after RELEASED (a rollback, or a release of its own)")
                                              : std::string(name_of(next_of(state_, training_))),
            name_of(to));
    violations found;
    std::visit([&](const auto& e) { check(e, found); }, shown);
    found.throw_if_any();
    state_ = to;
    if (to == release_state::released) ++generation_;
  }

  /// Back to the draft, with the whole old tuple live and no cache that may be read.
  void roll_back() {
    state_ = release_state::draft;
    ++generation_;
  }

  /// Refuses a runtime that does not run the live tuple, whole.
  void require_running(const release_tuple& observed) const { differences(observed, live()).throw_if_any(); }

  /// What a cache that is made now is stamped with.
  [[nodiscard]] cache_stamp stamp() const { return {live(), generation_}; }
  /// Refuses a cache of another tuple, or one made before a release or a rollback.
  void require_readable(const cache_stamp& made) const {
    violations found = differences(made.tuple, live());
    expect(made.generation == generation_, "generation of the cache", generation_, made.generation, found);
    found.throw_if_any();
  }

 private:
  template <class Expected, class Actual, class Axis>
  static void expect(bool ok, const Axis& axis, const Expected& expected, const Actual& actual, violations& found) {
    found.expect(ok, errc::release_step, "release", axis, expected, actual);
  }

  void check(const evidence::migrated_table& e, violations& found) const {
    const index_t config = new_.config_max_position_embeddings;
    expect(e.table_rows == new_.table_rows, "table rows", index_t{new_.table_rows}, index_t{e.table_rows}, found);
    expect(e.config_max_position_embeddings == config, "config max_position_embeddings", config,
           index_t{e.config_max_position_embeddings}, found);
    expect(e.row_offset >= 0 && saturating_subtract(e.table_rows, e.row_offset) == config, "positions with a row",
           config, text("{} rows, row_offset {}", index_t{e.table_rows}, index_t{e.row_offset}), found);
    expect(e.generated_ids_end == config, "end of the generated ids", config, index_t{e.generated_ids_end}, found);
  }
  void check(const evidence::migrated_optimizer& e, violations& found) const {
    expect(!e.rows.empty(), "optimizer tensors", "at least 1", 0, found);
    for (std::size_t n = 0; n < e.rows.size(); ++n) {
      expect(e.rows[n] == new_.table_rows, text("rows of optimizer tensor {}", n), index_t{new_.table_rows}, e.rows[n],
             found);
    }
  }
  static void check(const evidence::reconciled_checkpoint& e, violations& found) {
    const load_report& report = e.report;
    const auto refuse = [&found](const std::vector<std::string>& names, std::string_view what) {
      for (const std::string& name : names) expect(false, text("tensor {}", name), "reconciled", what, found);
    };
    refuse(report.missing, "missing");
    refuse(report.unexpected, "unexpected");
    refuse(report.shape_changed, "another shape");
    refuse(report.misdirected, "a rename that leads nowhere");
    expect(!report.loaded.empty(), "loaded tensors", "at least 1", 0, found);
  }
  void check(const evidence::base_range& e, violations& found) const {
    const index_t before = old_.config_max_position_embeddings;
    expect(e.positions == before, "positions compared", text("all {} of the old release", before), index_t{e.positions},
           found);
    const double allowed = e.allowed_difference;
    const double largest = e.largest_difference;
    expect(allowed >= 0.0 && allowed < std::numeric_limits<double>::infinity(), "allowed difference",
           "a finite number of at least 0", allowed, found);
    expect(largest >= 0.0 && largest <= allowed, "largest difference", text("from 0 to {}", allowed), largest, found);
  }
  void check(const evidence::extended_range& e, violations& found) const {
    const index_t first = old_.config_max_position_embeddings;
    const index_t end = new_.config_max_position_embeddings;
    expect(e.first == first && e.end == end, "positions measured", text("{}..{}", first, end - 1),
           text("{}..{}", index_t{e.first}, index_t{e.end} - 1), found);
    expect(std::cmp_equal(e.updates.size(), end - first), "update counts", end - first, e.updates.size(), found);
    if (e.claim != evidence::row_claim::trained) return;
    const auto untouched = std::find_if(e.updates.begin(), e.updates.end(), [](index_t n) { return n <= 0; });
    expect(untouched == e.updates.end(), "rows called trained", "at least 1 update each",
           text("none at position {}", first + (untouched - e.updates.begin())), found);
  }
  void check(const evidence::runtime_limit& e, violations& found) const {
    expect(e.backend == new_.runtime_backend, "runtime backend", new_.runtime_backend.name(), e.backend.name(), found);
    expect(e.positions == new_.config_max_position_embeddings, "admission limit",
           index_t{new_.config_max_position_embeddings}, index_t{e.positions}, found);
  }

  release_tuple old_;
  release_tuple new_;
  training training_;
  release_state state_ = release_state::draft;
  index_t generation_ = 0;
};

}  // namespace posgeo::contract
