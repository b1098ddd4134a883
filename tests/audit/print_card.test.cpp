// SPDX-License-Identifier: MIT
#include <posgeo/audit/print_card.hpp>

#include <algorithm>
#include <set>

#include "support/card_changes.hpp"
#include "support/cards.hpp"
#include "support/catch.hpp"

namespace print_card_test {

using namespace posgeo;
using namespace posgeo::test;
using audit::positional_card;
using audit::to_markdown;

std::vector<positional_card> every_card() {
  return {t5_card(), alibi_card(), yarn_card(), learned_absolute_card(), shaw_card()};
}
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}
/// The bars of a table's line that begin or end a cell.
std::size_t bars(const std::string& line) {
  std::size_t count = 0;
  for (std::size_t n = 0; n < line.size(); ++n) {
    if (line[n] == '\\') {
      ++n;
    } else if (line[n] == '|') {
      ++count;
    }
  }
  return count;
}
/// Each table has a head, a line of dashes, and rows of as many cells; an empty line stands before and behind it.
void check_tables(const std::string& markdown) {
  const std::vector<std::string> lines = lines_of(markdown);
  std::size_t cells = 0;
  for (std::size_t n = 1; n < lines.size(); ++n) {
    CAPTURE(lines[n]);
    const bool in_table = lines[n].starts_with("| ");
    if (!in_table) {
      CHECK(!(lines[n - 1].starts_with("|") && !lines[n].empty()));
      continue;
    }
    CHECK(lines[n].ends_with(" |"));
    if (!lines[n - 1].starts_with("|")) {
      CHECK(lines[n - 1].empty());
      cells = bars(lines[n]);
      REQUIRE(n + 1 < lines.size());
      CHECK(lines[n + 1].find_first_not_of("|- ") == std::string::npos);
    }
    CHECK(bars(lines[n]) == cells);
  }
}
bool contains(const std::string& all, std::string_view part) { return all.find(part) != std::string::npos; }

TEST_CASE("a card in Markdown is headings tables and sentences", "[card]") {
  for (const positional_card& card : every_card()) {
    const std::string markdown = to_markdown(card);
    CHECK(markdown.starts_with("## Positions\n\n| what | value |\n| --- | --- |\n"));
    CHECK(markdown.ends_with("\n- Nothing is claimed of code.\n"));
    CHECK_FALSE(contains(markdown, "\n\n\n"));
    check_tables(markdown);
  }
}

TEST_CASE("every field of a card is in its Markdown", "[card]") {
  std::set<std::string> paths;
  for (const positional_card& card : every_card()) {
    const std::string markdown = to_markdown(card);
    for (const changed_card& other : every_change(card)) {
      if (other.path.ends_with("_axes")) continue;  // how the extents are named
      CAPTURE(other.path);
      CHECK(to_markdown(other.card) != markdown);
      paths.insert(other.path);
    }
  }
  CHECK(paths.size() > 100);
}

TEST_CASE("texts of the caller stay in their cell", "[card]") {
  positional_card card = alibi_card();
  const std::string bad = "a | b\n| c | \\| `d` *e* <b>[f](g) &amp; h_ #i ~j $k\r\n\tl";
  card.checkpoint_id = checkpoint_id(bad);
  card.lengths.evaluated[0].task = bad;
  card.lengths.evaluated[1].placement = bad;
  card.lengths.evaluated[1].metric = bad;
  audit::audit_part audited = *card.audit.value();
  audited.findings[0].what = audited.findings[2].message = audited.name = audited.debts[0].because = bad;
  card.audit = audited;
  card.not_claimed = {bad, "- one", "1. two", "# three", "    four", "2048) five", "_six_ and snake_case"};
  const std::string markdown = to_markdown(card);
  check_tables(markdown);
  const std::string shown = "a \\| b \\| c \\| \\\\\\| \\`d\\` \\*e\\* \\<b\\>\\[f\\](g) \\&amp; h\\_ \\#i \\~j \\$k l";
  CHECK(contains(markdown, "| checkpoint | " + shown + " |\n"));
  CHECK(contains(markdown, " | " + shown + " | not controlled | perplexity | 11.25 |\n"));
  CHECK(contains(markdown, "| one of 64 names | " + shown + " | " + shown + " | 0.375 |\n"));
  CHECK(contains(markdown, "\nOf " + shown + ".\n"));
  CHECK(contains(markdown, "\nDebt, distance: " + shown + ".\n"));
  CHECK(contains(markdown, "| as expected, " + shown + " |\n"));
  CHECK(contains(markdown, "\n- " + shown +
                               "\n- \\- one\n- 1\\. two\n- \\# three\n- four\n- 2048\\) five\n"
                               "- \\_six\\_ and snake_case\n"));
}

TEST_CASE("a card marks what is beyond training and says what is not known", "[card]") {
  const std::string markdown = to_markdown(alibi_card());
  CHECK(contains(markdown, "\n| longest evaluated length | 256, beyond the trained length |\n"));
  CHECK(contains(markdown, "\n| 64 | within trained | language modelling |"));
  CHECK(contains(markdown, "\n| 256 | beyond trained | retrieval |"));
  CHECK(contains(markdown, "\n- Quality above length 256 was not measured.\n"));
  CHECK(contains(markdown, "\n- Training held no sequence above length 64.\n"));
  CHECK(contains(markdown,
                 "\n- Kinds of tasks that were not evaluated: aggregation, exact ordering, missing evidence.\n"));
  CHECK(contains(markdown, "\n- Tests that failed: cached.\n- Tests that were not run: padding.\n"));

  positional_card silent = learned_absolute_card();
  CHECK_FALSE(contains(to_markdown(silent), "Quality above"));
  silent.lengths.evaluated.clear();
  CHECK(contains(to_markdown(silent), "\n### Evaluated lengths\n\nNone.\n"));
  CHECK(contains(to_markdown(silent), "\n- Quality was not measured at any length.\n"));
  CHECK(contains(to_markdown(silent), "\n| longest evaluated length | none |\n"));
}

TEST_CASE("a test that has no meaning for the call counts as not run", "[card]") {
  positional_card card = alibi_card();
  audit::audit_part audited = *card.audit.value();
  for (audit::finding_part& one : audited.findings) one.found = audit::verdict::not_applicable;
  card.audit = audited;
  CHECK(contains(to_markdown(card),
                 "\n- Tests that were not run: the same content at another place, cached against whole, padding.\n"));
}

TEST_CASE("slopes and speeds are written in full", "[card]") {
  CHECK(contains(to_markdown(alibi_card()), "values \\[0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125\\]"));
  const std::string yarn = to_markdown(yarn_card());
  CHECK(contains(yarn, "\n| scaling | yarn of rotary, factor 4, from length 32 |\n"));
  CHECK(contains(yarn,
                 "frequencies yarn (attention_factor none, base 100, beta_fast 32, beta_slow 1, factor 4, "
                 "original_max_position 32, ramp turns, rotary_dim 8)"));
  CHECK(contains(yarn, "\n| reach before the query | 31 keys |\n| reach after the query | 0 keys |\n"));
}

}  // namespace print_card_test
