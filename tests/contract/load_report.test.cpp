// SPDX-License-Identifier: MIT
#include <posgeo/contract/load_report.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace load_report_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;
using names = std::vector<std::string>;

load_request request() {
  return {.wanted = {{"pos.table", {6, 4}}, {"rel.index", {9, 9}}, {"rotary.inv_freq", {2}}},
          .recomputable = {"rel.index", "rotary.inv_freq"},
          .checkpoint = {{"pos.table", {6, 4}}, {"rotary.inv_freq", {2}}},
          .renamed = {}};
}

/// The report of the request after a change, which must refuse or not as it says.
template <class Change>
load_report reported(const Change& change) {
  load_request changed = request();
  change(changed);
  const load_report report = report_load(changed);
  if (report.status() == load_status::ok) {
    CHECK_NOTHROW(require_loadable(report));
  } else {
    CHECK(refusal([&] { require_loadable(report); }).code() == errc::checkpoint_tensors);
  }
  return report;
}

TEST_CASE("a load report says what becomes of each tensor", "[load_report]") {
  const auto report = reported([](auto&) {});
  CHECK(report.status() == load_status::ok);
  CHECK(report.loaded == names{"pos.table", "rotary.inv_freq"});
  CHECK(report.recomputed == names{"rel.index"});
  CHECK((report.missing.empty() && report.unexpected.empty() && report.shape_changed.empty()));
}

TEST_CASE("a trained table may not be missing and a recomputable one may", "[load_report]") {
  const auto report = reported([](auto& r) { r.checkpoint.clear(); });
  CHECK(report.status() == load_status::refused);
  CHECK(report.missing == names{"pos.table"});
  CHECK(report.recomputed == names{"rel.index", "rotary.inv_freq"});
  CHECK(refusal([&] { require_loadable(report); }).what() ==
        std::string("checkpoint, tensor pos.table: expected stored, since nothing recomputes it, got none"));
}

TEST_CASE("a prefix is only removed by an explicit rename", "[load_report]") {
  const auto prefixed = [](auto& r) { r.checkpoint = {{"model.pos.table", {6, 4}}, {"extra.position_ids", {1, 6}}}; };
  const auto strict = reported(prefixed);
  CHECK(strict.missing == names{"pos.table"});
  CHECK(strict.unexpected == names{"extra.position_ids", "model.pos.table"});
  const auto renamed = reported([&](auto& r) {
    prefixed(r);
    r.renamed = {{"model.pos.table", "pos.table"}};
  });
  CHECK(renamed.status() == load_status::ok);
  CHECK(renamed.loaded == names{"pos.table"});
  CHECK(renamed.unexpected == names{"extra.position_ids"});
}

TEST_CASE("other extents are refused, recomputable or not and renamed or not", "[load_report]") {
  const auto turned = reported([](auto& r) { r.checkpoint["pos.table"] = {4, 6}; });
  CHECK(turned.shape_changed == names{"pos.table"});
  CHECK(turned.status() == load_status::refused);
  const auto buffer = reported([](auto& r) { r.checkpoint["rotary.inv_freq"] = {1, 2}; });
  CHECK(buffer.shape_changed == names{"rotary.inv_freq"});
  CHECK(buffer.recomputed == names{"rel.index"});
  CHECK(buffer.status() == load_status::refused);
  const auto renamed = reported([](auto& r) {
    r.checkpoint["old"] = {9};
    r.renamed = {{"old", "rel.index"}};
  });
  CHECK(renamed.shape_changed == names{"rel.index"});
}

TEST_CASE("a rename must find a tensor and a free place", "[load_report]") {
  const auto misdirected = [](std::map<std::string, std::string> renamed) {
    return reported([&](auto& r) {
      r.checkpoint["a"] = {9, 9};
      r.checkpoint["b"] = {9, 9};
      r.renamed = std::move(renamed);
    });
  };
  CHECK(misdirected({{"not there", "rel.index"}}).misdirected == names{"not there"});
  CHECK(misdirected({{"a", "not wanted"}}).misdirected == names{"a"});
  CHECK(misdirected({{"a", "pos.table"}}).misdirected == names{"a"});
  CHECK(misdirected({{"a", "rel.index"}, {"b", "rel.index"}}).misdirected == names{"b"});
  for (const char* const to : {"not wanted", "pos.table"}) {
    CHECK(misdirected({{"a", to}}).status() == load_status::refused);
  }
  CHECK(misdirected({{"a", "rel.index"}}).status() == load_status::ok);
}

TEST_CASE("names may be swapped and moved on to a place that is given up", "[load_report]") {
  const auto moved = [](std::map<std::string, std::string> renamed) {
    return report_load({.wanted = {{"a", {1, 2}}, {"b", {3}}, {"c", {4}}},
                        .recomputable = {"c"},
                        .checkpoint = {{"a", {3}}, {"b", {1, 2}}},
                        .renamed = std::move(renamed)});
  };
  CHECK(moved({}).shape_changed == names{"a", "b"});
  const auto swapped = moved({{"a", "b"}, {"b", "a"}});
  CHECK(swapped.status() == load_status::ok);
  CHECK(swapped.loaded == names{"a", "b"});
  CHECK(swapped.recomputed == names{"c"});
  const auto on = moved({{"a", "b"}, {"b", "c"}});
  CHECK(on.misdirected.empty());
  CHECK(on.loaded == names{"b"});
  CHECK(on.shape_changed == names{"c"});
  CHECK(moved({{"a", "b"}}).misdirected == names{"a"});
  CHECK(moved({{"a", "b"}, {"b", "nowhere"}}).status() == load_status::refused);
}

TEST_CASE("of many missing tensors sixteen are named and the rest counted", "[load_report]") {
  load_request empty;
  for (int n = 0; n < 20; ++n) empty.wanted[fmt::format("t{:02}", n)] = {n};
  const auto report = report_load(empty);
  CHECK(report.missing.size() == 20);
  const std::string what = refusal([&] { require_loadable(report); }).what();
  CHECK(what.find("tensor t15:") != std::string::npos);
  CHECK(what.find("tensor t16:") == std::string::npos);
  CHECK(what.ends_with("; and 4 more"));
}

TEST_CASE("what can be recomputed must be wanted", "[load_report]") {
  CHECK(refusal([] { return reported([](auto& r) { r.recomputable.insert("rotary.inv_freqs"); }); }).code() ==
        errc::checkpoint_tensors);
}

}  // namespace load_report_test
