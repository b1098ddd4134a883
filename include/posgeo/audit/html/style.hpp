// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace posgeo::audit::html {

/// How many looks there are for the lines of one picture: s0, s1 .. as areas, line0, line1 .. as lines. Lines differ in
/// their dashes as well as in their colours.
inline constexpr int looks = 8;

/// The style of every page: light and dark, for screens and for paper. Text has at least 4.5 times the contrast of its
/// ground, lines and areas 3 times.
inline constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --ground: #ffffff; --panel: #f5f7f9; --ink: #1b2530; --soft: #4c5967; --edge: #c6ced6;
  --link: #0b5394; --good: #0f6a3c; --bad: #a8201a; --s0: #0b5cad; --s1: #b84a00; --s2: #00734f; --s3: #8a3c8f;
  --s4: #7d6100; --s5: #3f4a54; --s6: #a3123f; --s7: #00708a; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #11161b; --panel: #1a2129; --ink: #e9eef3; --soft: #aab6c2;
  --edge: #3a4652; --link: #8cc4ff; --good: #6fd69c; --bad: #ff9b91; --s0: #7ab8ff; --s1: #ffab70; --s2: #5fd3a6;
  --s3: #dca5e3; --s4: #e3c24b; --s5: #c3ccd4; --s6: #ff8fa6; --s7: #5cc9e0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(0.9rem, 3vw, 2.5rem) 4rem; max-width: 1360px; background: var(--ground);
  color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: clamp(1.6rem, 4vw, 2.2rem); line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 0.4rem; }
h3 { font-size: 1.08rem; line-height: 1.3; margin: 0 0 0.3rem; }
p { max-width: 75ch; margin: 0.2rem 0 0.8rem; }
a { color: var(--link); }
nav ol { columns: 15rem; padding-left: 1.8rem; margin: 1rem 0; font-size: 0.95rem; }
nav li { break-inside: avoid; padding: 0.08rem 0; }
section { border-top: 2px solid var(--edge); padding-top: 1.4rem; margin-top: 2.2rem; }
.blocks { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 34rem), 1fr)); gap: 1rem;
  align-items: start; }
.block { min-width: 0; background: var(--panel); border: 1px solid var(--edge); border-radius: 8px; padding:
  0.9rem 1rem 1rem;
  margin: 0; }
.whole { grid-column: 1 / -1; }
.block > :last-child { margin-bottom: 0; }
.pictures { display: flex; flex-wrap: wrap; gap: 0.8rem 1.6rem; align-items: flex-start; }
figure { margin: 0; min-width: 0; max-width: 100%; }
figcaption { color: var(--soft); font-size: 0.86rem; max-width: 26rem; }
.scroll { overflow-x: auto; max-width: 100%; }
.scroll:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
svg { display: block; max-width: 100%; height: auto; font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
  fill: var(--ink); }
svg text.soft { fill: var(--soft); }
svg text.strong { font-weight: 600; }
svg text.on-dark { fill: #ffffff; } svg text.on-light { fill: #000000; }
svg .axis { stroke: var(--soft); stroke-width: 1; } svg .grid { stroke: var(--edge); stroke-width: 0.6; }
svg .frame { fill: none; stroke: var(--edge); stroke-width: 0.8; }
svg .mark { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .hidden { fill: var(--soft); } svg .padding { fill: none; stroke: var(--soft); stroke-dasharray: 3 2; }
svg .seen { fill: var(--s0); } svg .bar { fill: var(--s0); } svg .low { fill: var(--s1); }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .s6 { fill: var(--s6); } .s7 { fill: var(--s7); }
[class^="line"] { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.line0 { stroke: var(--s0); } .line1 { stroke: var(--s1); stroke-dasharray: 7 2; }
.line2 { stroke: var(--s2); stroke-dasharray: 3 2; } .line3 { stroke: var(--s3); stroke-dasharray: 8 2 2 2; }
.line4 { stroke: var(--s4); stroke-dasharray: 1.5 2; } .line5 { stroke: var(--s5); stroke-dasharray: 11 3; }
.line6 { stroke: var(--s6); stroke-dasharray: 5 2 1 2 1 2; } .line7 { stroke: var(--s7); stroke-dasharray: 2 4; }
.legend { display: flex; flex-wrap: wrap; gap: 0.15rem 1.2rem; list-style: none; margin: 0.5rem 0; padding: 0;
  font-size: 0.88rem; }
.legend li { display: flex; align-items: center; gap: 0.4rem; }
.legend svg.sample { width: 34px; height: 12px; flex: none; }
table { border-collapse: collapse; font-size: 0.88rem; margin: 0.5rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 0.2rem 0; }
th, td { border-bottom: 1px solid var(--edge); padding: 0.22rem 0.7rem 0.22rem 0; text-align: left;
  vertical-align: top; overflow-wrap: normal; }
thead th { border-bottom: 2px solid var(--soft); }
tbody th { font-weight: 500; white-space: nowrap; }
summary { cursor: pointer; color: var(--link); margin-top: 0.5rem; width: fit-content; }
@media print {
  :root { color-scheme: light; --ground: #ffffff; --panel: #ffffff; --ink: #000000; --soft: #3a3a3a; --edge: #9a9a9a;
    --link: #000000; }
  .blocks { display: block; } .block { margin: 1rem 0; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  section, figure, tr { break-inside: auto; } figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; height: auto; }
  @page { margin: 15mm; }
}
)css";

}  // namespace posgeo::audit::html
