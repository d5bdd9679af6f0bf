// Draws the picture of the README from a service with the sample book: node docs/draw-picture.ts http://127.0.0.1:8080
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** Where the picture is committed. */
export const PICTURE = join(import.meta.dirname, 'track-record.svg')

const STRATEGY = 'alder'

/** The lines, from the strategy's own risk level down, each with its colours on a light and on a dark page. */
const LINES = [
  { riskPct: 0.02, name: '2 % risk per trade', light: '#1f4fd8', dark: '#7aa2ff' },
  { riskPct: 0.01, name: '1 % risk per trade', light: '#d9730d', dark: '#ffb066' },
] as const

/** The plot in the units of the picture: equity above, drawdown below, labels at the right. */
const WIDTH = 880
const HEIGHT = 430
const PLOT = { left: 56, right: 668, equity: [92, 276], drawdown: [308, 404] } as const

/** A point a week is as fine as the picture is wide, and keeps the file small. */
const DAYS_PER_POINT = 7

const curveAnswer = z.object({ data: z.array(z.object({ t: z.string(), equity: z.number() })) })
const statsAnswer = z.object({
  data: z.object({ cagr_pct: z.number(), max_drawdown_pct: z.number(), sharpe_daily_annualized: z.number() }),
})

type Line = (typeof LINES)[number] & {
  readonly equity: readonly number[]
  /** Fractions below the highest equity so far, 0 or negative. */
  readonly drawdown: readonly number[]
  readonly stats: z.infer<typeof statsAnswer>['data']
}

/** The picture as the text of an SVG file, from the answers of a service that serves the sample book. */
export async function drawPicture(url: string): Promise<string> {
  const read = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json()
  const route = `/v1/strategies/${STRATEGY}`
  const days = curveAnswer.parse(await read(`${route}/curve`)).data.map(({ t }) => t)
  const lines = await Promise.all(
    LINES.map(async line => {
      const curve = curveAnswer.parse(await read(`${route}/curve?risk_pct=${line.riskPct}`)).data
      const stats = statsAnswer.parse(await read(`${route}/stats?risk_pct=${line.riskPct}`)).data
      const equity = curve.map(point => point.equity)
      return { ...line, equity, drawdown: drawdownOf(equity), stats }
    }),
  )
  return renderPicture(days, lines)
}

function drawdownOf(equity: readonly number[]): number[] {
  let peak = 1
  return equity.map(value => {
    peak = Math.max(peak, value)
    return value / peak - 1
  })
}

function renderPicture(days: readonly string[], lines: readonly Line[]): string {
  const equities = lines.flatMap(line => line.equity)
  const lowest = Math.min(...equities)
  const highest = Math.max(...equities)
  const deepest = Math.min(...lines.flatMap(line => line.drawdown))
  const x = (day: number) => PLOT.left + ((PLOT.right - PLOT.left) * day) / (days.length - 1)
  const yEquity = scale([Math.log(lowest), Math.log(highest)], [PLOT.equity[1], PLOT.equity[0]])
  const yDrawdown = scale([deepest, 0], [PLOT.drawdown[1], PLOT.drawdown[0]])
  const path = (values: readonly number[], y: (value: number) => number): string =>
    values
      .map((value, day) => [day, `${x(day).toFixed(1)} ${y(value).toFixed(1)}`] as const)
      .filter(([day]) => day % DAYS_PER_POINT === 0 || day === values.length - 1)
      .map(([day, point]) => (day === 0 ? `M${point}` : `L${point}`))
      .join('')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Equity and drawdown of a sample strategy at two risk levels">`,
    style(lines),
    `<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="10"/>`,
    `<text class="title" x="24" y="36">One strategy, any risk level</text>`,
    `<text x="24" y="58">${STRATEGY}, a synthetic sample, ${days[0]} to ${days.at(-1)}: replayed from code, checked by a second computation</text>`,
    ...years(days).map(
      ([day, year]) => `<text class="middle" x="${x(day).toFixed(1)}" y="${HEIGHT - 10}">${year}</text>`,
    ),
    ...ticks(lowest, highest).map(value => gridLine(yEquity(Math.log(value)), `${value} ×`)),
    ...[0, -0.2, -0.4].map(value => gridLine(yDrawdown(value), `${Math.round(value * 100)} %`)),
    ...lines.map(
      ({ drawdown }, index) =>
        `<path class="area l${index}" d="${path(drawdown, yDrawdown)}L${PLOT.right} ${PLOT.drawdown[0]}H${PLOT.left}Z"/>`,
    ),
    ...lines.map(
      ({ equity }, index) =>
        `<path class="line l${index}" d="${path(
          equity.map(value => Math.log(value)),
          yEquity,
        )}"/>`,
    ),
    ...lines.flatMap((line, index) => legend(line, index)),
    `<text class="middle" x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.drawdown[0] - 10}">equity, logarithmic, above; drawdown below</text>`,
    '</svg>',
    '',
  ].join('\n')
}

const scale =
  ([from, to]: readonly [number, number], [low, high]: readonly [number, number]) =>
  (value: number): number =>
    low + ((high - low) * (value - from)) / (to - from)

const gridLine = (y: number, label: string): string =>
  `<path class="grid" d="M${PLOT.left} ${y.toFixed(1)}H${PLOT.right}"/><text class="end" x="${PLOT.left - 6}" y="${(y + 4).toFixed(1)}">${label}</text>`

/** Multiples of the opening equity that lie in the plot. */
const ticks = (lowest: number, highest: number): number[] =>
  [0.5, 1, 2, 4, 8].filter(value => value >= lowest && value <= highest)

/** The first day of each second year. */
const years = (days: readonly string[]): (readonly [number, string])[] =>
  days.flatMap((day, index) =>
    day.endsWith('-01-01') && Number(day.slice(0, 4)) % 2 === 0 ? [[index, day.slice(0, 4)] as const] : [],
  )

const legend = ({ name, stats }: Line, index: number): string[] => {
  const top = PLOT.equity[0] + 14 + index * 100
  return [
    `<path class="line l${index}" d="M684 ${top - 4}h22"/><text class="name" x="714" y="${top}">${name}</text>`,
    ...[
      `CAGR ${stats.cagr_pct.toFixed(1)} %`,
      `max drawdown ${stats.max_drawdown_pct.toFixed(1)} %`,
      `Sharpe ${stats.sharpe_daily_annualized.toFixed(2)}`,
    ].map((text, row) => `<text x="714" y="${top + 20 + row * 18}">${text}</text>`),
  ]
}

/** Colours follow the page that shows the picture. */
const style = (lines: readonly Line[]): string =>
  [
    '<style>',
    'text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;fill:#57606a}',
    '.title{font-size:20px;font-weight:600;fill:#1f2328}.name{font-weight:600;fill:#1f2328}',
    '.middle{text-anchor:middle}.end{text-anchor:end}.page{fill:#fff;stroke:#d0d7de}.grid{stroke:#d8dee4;fill:none}',
    '.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.area{fill-opacity:.18;stroke-width:1}',
    ...lines.map(({ light }, index) => `.l${index}{stroke:${light}}.area.l${index}{fill:${light}}`),
    '@media (prefers-color-scheme:dark){',
    'text{fill:#9198a1}.title,.name{fill:#f0f6fc}.page{fill:#0d1117;stroke:#3d444d}.grid{stroke:#2a3038}',
    ...lines.map(({ dark }, index) => `.l${index}{stroke:${dark}}.area.l${index}{fill:${dark}}`),
    '}',
    '</style>',
  ].join('\n')

if (import.meta.main) writeFileSync(PICTURE, await drawPicture(process.argv[2] ?? 'http://127.0.0.1:8080'))
