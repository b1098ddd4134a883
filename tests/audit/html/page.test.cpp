// SPDX-License-Identifier: MIT
#include <posgeo/audit/html/page.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/markup.hpp"
#include "support/refusal.hpp"

namespace audit_html_page_test {

using namespace posgeo;
using namespace posgeo::audit::html;
using test::elements_of;
using test::named;

constexpr const char* nasty = "<script>\"a\" & 'b'</script> ]]> \x01 \xFF \xC0\xAF \xE2\x89\xA0";
constexpr const char* harmless =
    "&lt;script&gt;&quot;a&quot; &amp; 'b'&lt;/script&gt; ]]&gt; \xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD "
    "\xE2\x89\xA0";

picture nasty_picture() {
  picture out(100.0, 50.0, nasty, nasty);
  out.text(1.0, 2.0, anchor::upright, nasty);
  return out;
}

page nasty_page() {
  page out(nasty, nasty);
  for (int n = 0; n < 2; ++n) {
    out.section(nasty, nasty);
    out.add({.title = nasty,
             .words = nasty,
             .pictures = {nasty_picture(), nasty_picture()},
             .legend = {{"s1", nasty}, {"line2", nasty}, {"hidden", nasty}},
             .tables = {{nasty, {nasty, nasty}, {{nasty, nasty}}}},
             .numbers = {{nasty, {nasty}, {{nasty}, {nasty}}}}});
  }
  return out;
}

TEST_CASE("texts of a report are escaped and made valid", "[html]") {
  CHECK(escaped(nasty) == harmless);
  CHECK(escaped("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  CHECK(escaped("\xF4\x90\x80\x80") == escaped("\xFF\xFF\xFF\xFF"));         // beyond the last character
  CHECK(escaped("\xF0\x9F\x98\x80 \xE2\x82") == "\xF0\x9F\x98\x80 \xEF\xBF\xBD\xEF\xBF\xBD");  // one that is cut off
  CHECK(escaped("\xE0\x80\xAF") == escaped("\xFF\xFF\xFF"));  // a slash, longer than it is
  CHECK(escaped("\n\t") == "\n\t");
}

TEST_CASE("numbers of a report are short and whole numbers whole", "[html]") {
  CHECK(shown(-0.0) == "0");
  CHECK(shown(65537.0) == "65537");
  CHECK(shown(-0.123456) == "-0.1235");
  CHECK(shown(1.5e-13) == "1.5e-13");
  CHECK(shown(std::numeric_limits<double>::quiet_NaN()) == "none");
}

TEST_CASE("a page is well formed whatever its texts are", "[html]") {
  const std::string text = nasty_page().str();
  const auto all = elements_of(text);
  CHECK(text.find("<script") == std::string::npos);
  CHECK(named(all, "section").size() == 2);
  CHECK(named(all, "figure").size() == 4);
  CHECK(named(all, "table").size() == 4);
  CHECK(named(all, "a").size() == 2);
  CHECK(named(all, "html").front()["lang"] == "en");
  for (const auto& heading : named(all, "h2")) CHECK(heading.text == harmless);
  CHECK(named(all, "h1").front().text == harmless);
  CHECK(named(all, "th").front().text == harmless);
}

TEST_CASE("a page needs nothing from outside and its headings are in order", "[html]") {
  int level = 0;
  for (const auto& one : elements_of(nasty_page().str())) {
    for (const auto& [name, value] : one.attributes) {
      if (name == "xmlns") continue;
      CHECK(value.find("//") == std::string::npos);
      CHECK(name != "src");
      if (name == "href") CHECK(value.front() == '#');
    }
    CHECK(one.name != "link");
    if (one.name.size() != 2 || one.name[0] != 'h' || one.name[1] < '1' || one.name[1] > '6') continue;
    CHECK(one.name[1] - '0' <= level + 1);
    level = one.name[1] - '0';
  }
  CHECK(level == 3);
  CHECK(style.find("url(") == std::string_view::npos);
  CHECK(style.find("@import") == std::string_view::npos);
}

TEST_CASE("each picture of a page is named and described", "[html]") {
  const auto all = elements_of(nasty_page().str());
  std::size_t pictures = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all[n].name != "svg" || all[n].attributes.count("role") == 0) continue;
    ++pictures;
    REQUIRE(n + 2 < all.size());
    CHECK(all[n]["role"] == "img");
    CHECK(all[n]["aria-labelledby"] == all[n + 1]["id"] + " " + all[n + 2]["id"]);
    CHECK(all[n + 1].name == "title");
    CHECK(all[n + 2].name == "desc");
    CHECK(all[n + 2].text == harmless);
  }
  CHECK(pictures == 4);
}

TEST_CASE("a page refuses a block before its first section", "[html]") {
  page out("an audit", "");
  const error refused = test::refusal([&] { out.add({.title = "Biases", .words = "none"}); });
  CHECK(refused.code() == errc::report);
  CHECK(refused.what() == std::string("report, block: expected one in a section, got 'Biases'"));
}

TEST_CASE("a page refuses a picture that nothing else says", "[html]") {
  page out("an audit", "");
  out.section("one", "");
  CHECK(test::refusal([&] { out.add({.title = "x", .pictures = {nasty_picture()}}); }).code() == errc::report);
}

TEST_CASE("a page refuses a table whose rows are not as wide as its columns", "[html]") {
  CHECK(test::refusal([] {
          (void)draw(audit::html::table{"x", {"a", "b"}, {{"1", "2"}, {"3"}}});
        }).code() == errc::shape_mismatch);
}

TEST_CASE("a page is written as it is and says when it cannot be", "[html]") {
  const auto path = std::filesystem::temp_directory_path() / "posgeo_audit_html_page_test.html";
  nasty_page().write(path);
  std::ifstream file(path, std::ios::binary);
  const std::string read{std::istreambuf_iterator<char>(file), {}};
  CHECK(read == nasty_page().str());
  std::filesystem::remove(path);
  CHECK(test::refusal([] { nasty_page().write("/no such folder/report.html"); }).code() == errc::report);
}

}  // namespace audit_html_page_test
