import { escapeHtml } from "./html-text.ts";

/** One line of a chart, in the units of its axes. */
export interface ChartLine {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** A chart of lines that share their axes. */
export interface Chart {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly lines: readonly ChartLine[];
  /** Marks of the x axis; without them five at equal distances. */
  readonly xMarks?: readonly { readonly x: number; readonly text: string }[];
}

const WIDTH = 860;
const HEIGHT = 300;
const LEFT = 80;
const RIGHT = 20;
const TOP = 16;
const BOTTOM = 52;
const MARKS = 5;
/** Distinguishable for most colour-blind people; lines beyond the fourth begin again. */
const COLORS = ["#0b6fb8", "#c4561a", "#2b8a3e", "#7b3fa0"];

/** The chart as one SVG element that stands in an HTML page and needs nothing beside it. */
export function lineChart(chart: Chart): string {
  const points = chart.lines.flatMap((line) => line.points);
  const [xMin, xMax] = spread(points.map(({ x }) => x));
  const [, yMax] = spread([0, ...points.map(({ y }) => y)]);
  const xAt = (x: number) => LEFT + ((x - xMin) / (xMax - xMin)) * (WIDTH - LEFT - RIGHT);
  const yAt = (y: number) => HEIGHT - BOTTOM - (y / yMax) * (HEIGHT - TOP - BOTTOM);
  const xMarks = chart.xMarks ?? evenMarks(xMin, xMax);
  const parts = [
    ...evenMarks(0, yMax).map(({ x: y, text }) => yMark(yAt(y), text)),
    ...xMarks.map(({ x, text }) => label(xAt(x), HEIGHT - BOTTOM + 18, text, "middle")),
    label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, chart.xTitle, "middle"),
    label(4, TOP + 2, chart.yTitle, "start"),
    ...chart.lines.map((line, index) => polyline(line, colorOf(index), xAt, yAt)),
    ...chart.lines.map((line, index) => legend(line.name, index)),
  ];
  const title = `<title>${escapeHtml(chart.title)}</title>`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${title}${parts.join("")}</svg>`;
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length] as string;
}

function polyline(
  line: ChartLine,
  color: string,
  xAt: (x: number) => number,
  yAt: (y: number) => number,
): string {
  const points = line.points.map(({ x, y }) => `${xAt(x).toFixed(1)},${yAt(y).toFixed(1)}`).join(" ");
  return `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2"/>`;
}

function legend(name: string, index: number): string {
  const x = LEFT + 120 + index * 160;
  const line = `<line x1="${x}" y1="10" x2="${x + 18}" y2="10" stroke="${colorOf(index)}" stroke-width="3"/>`;
  return line + label(x + 24, 14, name, "start");
}

function yMark(y: number, text: string): string {
  const line = `<line x1="${LEFT}" y1="${y.toFixed(1)}" x2="${WIDTH - RIGHT}" y2="${y.toFixed(1)}" stroke="#ddd"/>`;
  return line + label(LEFT - 8, y + 4, text, "end");
}

function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end"): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
}

function evenMarks(min: number, max: number): { x: number; text: string }[] {
  return Array.from({ length: MARKS }, (_, at) => {
    const x = min + ((max - min) * at) / (MARKS - 1);
    return { x, text: numberText(x) };
  });
}

function numberText(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3).replace(/\.?0+$/, "");
}

/** Least and most, made different so that a chart of one value has a height. */
function spread(values: readonly number[]): [min: number, max: number] {
  const min = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const max = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  if (min > max) return [0, 1];
  return max > min ? [min, max] : [min, min + 1];
}
