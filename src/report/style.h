// The report page's style sheet, inlined so that the page needs no network.
#pragma once

namespace hyperloom {

inline constexpr const char* kReportStyle = R"css(
:root{color-scheme:light dark;--bg:#fbfaf6;--card:#ffffff;--ink:#1c2420;--soft:#5a6660;--line:#e2e1d9;--track:#efeee7;
--accent:#0d6e52;--stage:#7fb8a3;--stock:#aab3ad;--warn:#9a5a0b;--warnbg:#fbf0dc;--bad:#a3322c;--badbg:#fbe6e2;--goodbg:#e0f1ea;
--inside:#ffffff;--dot:#1c2420}
@media (prefers-color-scheme:dark){:root{--bg:#121614;--card:#191f1c;--ink:#e7ece9;--soft:#9aa8a1;--line:#2c3531;--track:#242c28;
--accent:#3fb58c;--stage:#2f7159;--stock:#65716b;--warn:#e3a75c;--warnbg:#33270f;--bad:#ef8a80;--badbg:#3a1d1a;--goodbg:#16362a;
--inside:#0b0f0d;--dot:#f3f7f5}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
main{max-width:920px;margin:0 auto;padding:40px 24px 80px}
.brand{display:flex;justify-content:space-between;gap:12px;flex-wrap:wrap;color:var(--soft);font-size:14px;border-bottom:1px solid var(--line);
padding-bottom:12px}
.brand b{color:var(--ink);letter-spacing:.02em}
h1{font-size:clamp(30px,6.4vw,54px);line-height:1.1;letter-spacing:-.02em;margin:40px 0 8px;font-weight:650}
h1.words{font-size:clamp(26px,4.6vw,38px)}
h1 em{font-style:normal;color:var(--accent)}
.range{font-size:19px;color:var(--soft);margin:0 0 6px}
.lead{font-size:18px;margin:0 0 4px;max-width:44em}
.setting{color:var(--soft);margin:14px 0 0;font-size:15px;overflow-wrap:anywhere}
h2{font-size:22px;letter-spacing:-.01em;margin:56px 0 6px;font-weight:620}
h3{font-size:16px;margin:26px 0 6px}
p{margin:8px 0}.hint{color:var(--soft);font-size:14px;max-width:52em;margin:4px 0 16px}
.banner{background:var(--warnbg);color:var(--warn);border:1px solid currentColor;border-radius:8px;padding:12px 16px;margin:20px 0 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:28px 0 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.tile span{display:block;color:var(--soft);font-size:13px}.tile b{display:block;font-size:22px;font-weight:620;line-height:1.35}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin:12px 0}
ol.changes{list-style:none;padding:0;margin:12px 0;counter-reset:c}
ol.changes li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 18px;margin:10px 0}
ol.changes .why{color:var(--soft);font-size:15px}.note{color:var(--warn);font-size:14px;margin:4px 0 0}
code,pre,.code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{font-size:.92em;overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--line);border-left:3px solid var(--accent);border-radius:8px;padding:14px 18px;overflow-x:auto;
font-size:14px;line-height:1.55;margin:12px 0;user-select:all;-webkit-user-select:all}
.chip{display:inline-block;border-radius:99px;padding:1px 10px;font-size:12.5px;font-weight:600;vertical-align:1px;background:var(--track);
color:var(--soft);white-space:nowrap}
.chip.kept,.chip.held,.chip.claimed,.chip.enabled{background:var(--goodbg);color:var(--accent)}
.chip.reverted,.chip.broken,.chip.failed{background:var(--badbg);color:var(--bad)}.chip.numeric,.chip.refused,.chip.undecided{background:var(--warnbg);color:var(--warn)}
details{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:10px 0}
details>summary{cursor:pointer;padding:12px 18px;display:flex;gap:6px 12px;flex-wrap:wrap;align-items:baseline}
details>summary::marker,details>summary::-webkit-details-marker{color:var(--soft)}
summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:8px}
summary .name{font-weight:600;flex:1 1 auto;overflow-wrap:anywhere}summary .num{color:var(--soft);font-size:14.5px}
details>div{padding:2px 18px 16px;border-top:1px solid var(--line)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14.5px;margin:8px 0}
th{text-align:left;font-weight:600;color:var(--soft);font-size:13px}th,td{padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td{border-bottom:0}td.n,th.n{text-align:right;white-space:nowrap}td.wrap{overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:minmax(110px,max-content) 1fr;gap:4px 18px;margin:8px 0;font-size:15px}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
ul.plain{padding-left:20px;margin:8px 0}ul.plain li{margin:3px 0;overflow-wrap:anywhere}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;color:var(--soft);font-size:13.5px;margin:6px 0 10px}
.legend i{display:inline-block;width:14px;height:10px;border-radius:2px;margin-right:6px}
.legend i.round{width:7px;height:7px;border-radius:50%}
i.claim,i.best{background:var(--accent)}i.stage{background:var(--stage)}i.stock{background:var(--stock)}i.dot{background:var(--dot)}
svg{display:block;overflow:visible}
svg text{font-family:inherit;font-size:13px;fill:var(--soft);paint-order:stroke;stroke:var(--card);stroke-width:4px;
stroke-linejoin:round}
svg .label{fill:var(--ink);font-size:14px}svg .strong{font-weight:650}svg .figure{fill:var(--ink);font-size:13.5px}svg .small{font-size:12.5px;stroke:none}
svg .code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12.5px;fill:var(--ink)}
svg .tick{font-size:12px}svg .inside,svg .onstock{fill:var(--inside);font-size:12.5px;font-weight:600;stroke:none}svg .onstock{fill:var(--ink)}svg .cell{stroke:none;fill:var(--ink);font-size:16px;font-weight:650}
svg .cell.small{font-size:12.5px;font-weight:400}
svg .grid{stroke:var(--line)}svg .one{stroke:var(--soft);stroke-dasharray:3 3}svg .whisker{stroke:var(--ink);stroke-width:1.5}
svg .closed{stroke:var(--bad);stroke-dasharray:4 3;stroke-width:1.5}
svg .dot{fill:var(--dot);fill-opacity:.75;stroke:var(--card);stroke-width:1}svg .origin{fill:var(--stock)}
svg .track{fill:var(--track)}svg .stage{fill:var(--stage)}svg .claim,svg .best,svg .gain{fill:var(--accent)}svg .stock{fill:var(--stock)}svg .loss{fill:var(--bad)}
footer{margin-top:64px;border-top:1px solid var(--line);padding-top:12px;color:var(--soft);font-size:13.5px}
@media (max-width:560px){main{padding:24px 16px 60px}.card{padding:14px 14px}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 8px}
details>summary,details>div{padding-left:14px;padding-right:14px}}
@media print{body{background:#fff}details>div{display:block}.card,details,.tile{break-inside:avoid}}
)css";

}  // namespace hyperloom
