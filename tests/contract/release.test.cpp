// SPDX-License-Identifier: MIT
#include <posgeo/contract/release.hpp>

#include <array>
#include <functional>
#include <limits>
#include <string>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace release_test {
namespace {

using namespace posgeo;
using namespace posgeo::contract;
using posgeo::test::refusal;

release_tuple old_tuple() {
  return {.release_id = release_id("r1"),
          .checkpoint_id = checkpoint_id("c1"),
          .position_method = description("learned_absolute").with("row_offset", 2),
          .table_rows = 9,
          .config_max_position_embeddings = 7,
          .position_id_policy = position_id_policy("from 0, padding by position"),
          .adapter_id = none,
          .runtime_backend = backend_id("fused")};
}
release_tuple new_tuple() {
  auto t = old_tuple();
  t.release_id = release_id("r2");
  t.checkpoint_id = checkpoint_id("c2");
  t.table_rows = 13;
  t.config_max_position_embeddings = 11;
  return t;
}

evidence::migrated_table good_table() {
  return {.table_rows = 13, .config_max_position_embeddings = 11, .generated_ids_end = 11, .row_offset = 2};
}
load_report good_report() {
  load_report report;
  report.loaded = {"position_embeddings.weight"};
  report.recomputed = {"position_ids"};
  return report;
}
evidence::base_range good_base() { return {.positions = 7, .largest_difference = 1e-7, .allowed_difference = 1e-6}; }
evidence::extended_range good_extended() {
  return {.first = 7, .end = 11, .claim = evidence::row_claim::trained, .updates = {4, 1, 2, 1}};
}
/// What a step shows when all is well.
release_evidence good(release_state to) {
  switch (to) {
    case release_state::draft:
    case release_state::table_migrated:
      return good_table();
    case release_state::optimizer_migrated:
      return evidence::migrated_optimizer{{13, 13, 13}};
    case release_state::checkpoint_reconciled:
      return evidence::reconciled_checkpoint{good_report()};
    case release_state::base_range_regression_pass:
      return good_base();
    case release_state::extended_range_evaluated:
      return good_extended();
    case release_state::released:
      break;
  }
  return evidence::runtime_limit{.backend = backend_id("fused"), .positions = 11};
}

/// A release that has come as far as a state.
position_release at(release_state state, training then) {
  position_release r(old_tuple(), new_tuple(), then);
  while (r.state() != state) r.advance(good(next_of(r.state(), then)));
  return r;
}
std::vector<release_state> states() {
  std::vector<release_state> all;
  for (std::size_t n = 0; n < release_state_count; ++n) all.push_back(static_cast<release_state>(n));
  return all;
}

void refused(position_release r, const release_evidence& shown, const std::string& part) {
  const release_state before = r.state();
  const error thrown = refusal([&] { r.advance(shown); });
  CHECK(thrown.code() == errc::release_step);
  CAPTURE(thrown.what());
  CHECK(std::string(thrown.what()).find(part) != std::string::npos);
  CHECK(r.state() == before);
}

TEST_CASE("of all pairs of states exactly the steps of the machine are taken", "[release]") {
  using enum release_state;
  for (const training then : {training::continues, training::ends}) {
    const std::vector<release_state> path =
        then == training::continues
            ? std::vector{draft,
                          table_migrated,
                          optimizer_migrated,
                          checkpoint_reconciled,
                          base_range_regression_pass,
                          extended_range_evaluated,
                          released}
            : std::vector{
                  draft,   table_migrated, checkpoint_reconciled, base_range_regression_pass, extended_range_evaluated,
                  released};
    for (const release_state from : states()) {
      const auto place = std::find(path.begin(), path.end(), from);
      if (place == path.end()) continue;  // without training nothing stands at OPTIMIZER_MIGRATED
      for (const release_state to : states()) {
        CAPTURE(name_of(from), name_of(to));
        const bool legal = place + 1 != path.end() && *(place + 1) == to;
        CHECK(is_legal_step(from, to, then) == legal);
        if (to == draft) continue;  // no evidence leads there, only a rollback
        position_release r = at(from, then);
        if (legal) {
          r.advance(good(to));
          CHECK(r.state() == to);
        } else {
          refused(r, good(to), "next state: expected ");
        }
      }
    }
  }
  CHECK(!is_legal_step(optimizer_migrated, draft, training::ends));
}

TEST_CASE("each evidence belongs to one state", "[release]") {
  for (const release_state to : states()) {
    if (to != release_state::draft) CHECK(state_of(good(to)) == to);
  }
  CHECK(name_of(release_state::base_range_regression_pass) == "BASE_RANGE_REGRESSION_PASS");
  CHECK(name_of(release_state::released) == "RELEASED");
}

TEST_CASE("the old tuple is live until the release, and again after a rollback, whole", "[release]") {
  for (const release_state from : states()) {
    position_release r = at(from, training::continues);
    const bool is_new = from == release_state::released;
    CHECK_NOTHROW(r.require_running(is_new ? new_tuple() : old_tuple()));
    CHECK(refusal([&] { r.require_running(is_new ? old_tuple() : new_tuple()); }).code() == errc::release_step);
    r.roll_back();
    CHECK(r.state() == release_state::draft);
    CHECK_NOTHROW(r.require_running(old_tuple()));
    CHECK(r.live().table_rows == 9);
  }
}

TEST_CASE("a rollback that leaves one field of the new tuple is refused with its name", "[release]") {
  position_release r = at(release_state::released, training::ends);
  r.roll_back();
  const std::vector<std::pair<std::string, std::function<void(release_tuple&)>>> changes{
      {"release_id", [](release_tuple& t) { t.release_id = release_id("r2"); }},
      {"checkpoint_id", [](release_tuple& t) { t.checkpoint_id = checkpoint_id("c2"); }},
      {"position_method",
       [](release_tuple& t) { t.position_method = description("learned_absolute").with("row_offset", 0); }},
      {"table_rows", [](release_tuple& t) { t.table_rows = 13; }},
      {"config_max_position_embeddings", [](release_tuple& t) { t.config_max_position_embeddings = 11; }},
      {"position_id_policy", [](release_tuple& t) { t.position_id_policy = position_id_policy("from 1"); }},
      {"adapter_id", [](release_tuple& t) { t.adapter_id = adapter_id("none"); }},
      {"runtime_backend", [](release_tuple& t) { t.runtime_backend = backend_id("eager"); }}};
  for (const auto& [field, change] : changes) {
    auto observed = old_tuple();
    change(observed);
    const auto found = differences(observed, old_tuple());
    REQUIRE(found.size() == 1);
    CHECK(found.front().message.find("release tuple, " + field + ":") == 0);
    const error thrown = refusal([&] { r.require_running(observed); });
    CHECK(thrown.code() == errc::release_step);
  }
}

TEST_CASE("caches of another release or another generation are refused", "[release]") {
  position_release r = at(release_state::extended_range_evaluated, training::continues);
  const cache_stamp before = r.stamp();
  CHECK_NOTHROW(r.require_readable(before));
  r.advance(good(release_state::released));
  const error after_release = refusal([&] { r.require_readable(before); });
  CHECK(after_release.code() == errc::release_step);
  CHECK(std::string(after_release.what()).find("release_id: expected r2, got r1") != std::string::npos);
  const cache_stamp under_new = r.stamp();
  CHECK_NOTHROW(r.require_readable(under_new));
  r.roll_back();
  CHECK(refusal([&] { r.require_readable(under_new); }).code() == errc::release_step);
  const error of_old =
      refusal([&] { r.require_readable(before); });  // fresh request state, though the tuple is the same
  CHECK(std::string(of_old.what()) == "release, generation of the cache: expected 2, got 0");
  CHECK_NOTHROW(r.require_readable(r.stamp()));
}

TEST_CASE("a release of the same ids or of no longer table is refused", "[release]") {
  const auto build = [](const auto& change) {
    auto proposed = new_tuple();
    change(proposed);
    const error thrown = refusal([&] { (void)position_release(old_tuple(), proposed, training::ends); });
    CHECK(thrown.code() == errc::release_step);
    return std::string(thrown.what());
  };
  CHECK(build([](release_tuple& t) { t.release_id = release_id("r1"); }).find("release_id of the new tuple") !=
        std::string::npos);
  CHECK(build([](release_tuple& t) { t.checkpoint_id = checkpoint_id("c1"); }).find("checkpoint_id of the new") !=
        std::string::npos);
  CHECK(build([](release_tuple& t) { t.config_max_position_embeddings = 7; }).find("more than 7") != std::string::npos);
}

// The migration failure cases: each has the right shape and is wrong.

TEST_CASE("enlarged weight, old config: not migrated", "[release]") {
  auto shown = good_table();
  shown.config_max_position_embeddings = 7;
  refused(at(release_state::draft, training::ends), shown, "config max_position_embeddings: expected 11, got 7");
  shown = good_table();
  shown.generated_ids_end = 7;
  refused(at(release_state::draft, training::ends), shown, "end of the generated ids: expected 11, got 7");
}
TEST_CASE("enlarged config, old weight: not migrated", "[release]") {
  auto shown = good_table();
  shown.table_rows = 9;
  refused(at(release_state::draft, training::ends), shown, "table rows: expected 13, got 9");
  shown = good_table();
  shown.row_offset = 0;
  refused(at(release_state::draft, training::ends), shown, "positions with a row: expected 11");
}
TEST_CASE("copied weight, stale optimizer moments: not migrated", "[release]") {
  const auto r = at(release_state::table_migrated, training::continues);
  refused(r, evidence::migrated_optimizer{{13, 9, 13}}, "rows of optimizer tensor 1: expected 13, got 9");
  refused(r, evidence::migrated_optimizer{{}}, "optimizer tensors: expected at least 1, got 0");
}
TEST_CASE("initialised rows called trained: not evaluated", "[release]") {
  const auto r = at(release_state::base_range_regression_pass, training::ends);
  auto shown = good_extended();
  shown.updates = {4, 1, 0, 1};
  refused(r, shown, "rows called trained: expected at least 1 update each, got none at position 9");
  shown.claim = evidence::row_claim::initialised;
  auto told = r;
  CHECK_NOTHROW(told.advance(shown));
  shown.updates = {4, 1};
  refused(r, shown, "update counts: expected 4, got 2");
  shown = good_extended();
  shown.end = 10;
  refused(r, shown, "positions measured: expected 7..10, got 7..9");
}
TEST_CASE("old cache after a release change: not read", "[release]") {
  const position_release before = at(release_state::draft, training::ends);
  const position_release after = at(release_state::released, training::ends);
  CHECK(refusal([&] { after.require_readable(before.stamp()); }).code() == errc::release_step);
}
TEST_CASE("base range regression skipped or failed: not released", "[release]") {
  const auto r = at(release_state::checkpoint_reconciled, training::ends);
  refused(r, good(release_state::extended_range_evaluated), "next state: expected BASE_RANGE_REGRESSION_PASS");
  refused(r, good(release_state::released), "next state: expected BASE_RANGE_REGRESSION_PASS, got RELEASED");
  auto shown = good_base();
  shown.largest_difference = 2e-6;
  refused(r, shown, "largest difference");
  shown.largest_difference = std::numeric_limits<double>::quiet_NaN();
  refused(r, shown, "largest difference");
  shown = good_base();
  shown.positions = 6;
  refused(r, shown, "positions compared: expected all 7 of the old release, got 6");
  shown = good_base();
  shown.allowed_difference = std::numeric_limits<double>::infinity();
  refused(r, shown, "allowed difference");
}

TEST_CASE("a checkpoint that is not wholly reconciled is refused with the tensor's name", "[release]") {
  const auto r = at(release_state::table_migrated, training::ends);
  const auto with = [](auto member) {
    auto report = good_report();
    (report.*member).push_back("a.table");
    return evidence::reconciled_checkpoint{report};
  };
  refused(r, with(&load_report::missing), "tensor a.table: expected reconciled, got missing");
  refused(r, with(&load_report::unexpected), "tensor a.table: expected reconciled, got unexpected");
  refused(r, with(&load_report::shape_changed), "got another shape");
  refused(r, with(&load_report::misdirected), "got a rename that leads nowhere");
  refused(r, evidence::reconciled_checkpoint{load_report{}}, "loaded tensors: expected at least 1, got 0");
}

TEST_CASE("a runtime with another backend or limit is not released", "[release]") {
  const auto r = at(release_state::extended_range_evaluated, training::ends);
  refused(r, evidence::runtime_limit{.backend = backend_id("eager"), .positions = 11},
          "runtime backend: expected fused, got eager");
  refused(r, evidence::runtime_limit{.backend = backend_id("fused"), .positions = 7},
          "admission limit: expected 11, got 7");
}

}  // namespace
}  // namespace release_test
