import type { Part } from "../../output/result.ts";
import { benchResult, KIND_TEXTS } from "../bench-result.ts";
import type { Role } from "../meter.ts";
import type { BenchRun } from "../run-bench.ts";
import { escapeHtml } from "./html-text.ts";
import { lineChart } from "./line-chart.ts";

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; color: #222 }
body { max-width: 1100px; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px }
th, td { border: 1px solid #ddd; padding: .25rem .6rem; text-align: right }
th:first-child, td:first-child { text-align: left }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif }
.wide { overflow-x: auto }
`;

/** The parts of all latencies that the chart shows: the rarer, the more room. */
const PARTS = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1];
/** 100 % has no place on a logarithmic axis; it stands where the next mark would. */
const LAST_PLACE = 4.5;

/**
 * A run as one HTML page with its charts in it. It loads nothing: no script, no style, no font, no picture.
 *
 * @param when  when it was made, as text
 */
export function reportPage(run: BenchRun, when: string): string {
  const title = `millrace bench ${run.plan.scenario}`;
  const { parts } = benchResult(run);
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"/><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(when)}. Speeds count payload bytes, 1 MB is 1,000,000 bytes. With a rate limit a latency
begins when the request was due, whether it could leave then or not.</p>
<ul>${run.roles.map(({ kind }) => `<li>${escapeHtml(KIND_TEXTS[kind])}</li>`).join("")}</ul>
<h2>Speed</h2>
${speedChart(run.roles)}
<h2>Latency</h2>
${latencyChart(run.roles)}
${parts.map(partAsHtml).join("\n")}
</body>
</html>
`;
}

function speedChart(roles: readonly Role[]): string {
  const lines = roles.map(({ kind, series }) => ({
    name: kind,
    points: series.points().map(({ atMs, bytesPerSecond }) => ({ x: atMs / 1_000, y: bytesPerSecond / 1e6 })),
  }));
  return lineChart({ title: "MB/s over time", xTitle: "seconds", yTitle: "MB/s", lines });
}

function latencyChart(roles: readonly Role[]): string {
  const lines = roles.map((role) => {
    const { latency } = role.total();
    const points = PARTS.map((part) => ({ x: placeOf(part), y: latency.quantile(part) / 1e6 }));
    return { name: role.kind, points };
  });
  const xMarks = PARTS.filter((_, index) => index % 2 === 1 || index === 0 || index === PARTS.length - 1);
  return lineChart({
    title: "Latency by percentile",
    xTitle: "percent of all that took at most as long",
    yTitle: "ms",
    lines,
    xMarks: xMarks.map((part) => ({ x: placeOf(part), text: `${Number((part * 100).toFixed(2))} %` })),
  });
}

function placeOf(part: number): number {
  return part === 1 ? LAST_PLACE : -Math.log10(1 - part);
}

function partAsHtml(part: Part): string {
  if (part.kind === "sentence") return `<p>${escapeHtml(part.text)}</p>`;
  return `<div class="wide"><table>${linesOf(part)}</table></div>`;
}

function linesOf(part: Exclude<Part, { kind: "sentence" }>): string {
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${escapeHtml(text)}</${tag}>`).join("")}</tr>`;
  const head = part.kind === "rows" ? cells("th", part.titles) : "";
  return head + part.rows.map((row) => cells("td", row)).join("");
}
