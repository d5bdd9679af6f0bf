// The pictures that previews of pages show, as PNG of 600 x 315 pixels. Drawn here because a rasteriser of SVG with a font takes
// three times as long, and 200 ms to start in each thread (docs/decisions/2026-11-27-pages-that-answer.md).
import { crc32 } from 'node:zlib'
import { extent } from 'd3-array'
import { zlibSync } from 'fflate'
import { equalWeightBookOf } from '#core/dataset/equal-weight-book.ts'
import { type Snapshot, strategyOf } from '#core/dataset/snapshot.ts'
import { equityFromBaseline } from '#core/figures/account-path.ts'
import { whole } from '#pages/format.ts'
import { daysOf } from '#pages/layout.ts'
import { originOf, stateName } from '#pages/sheet/record.ts'
import glyphs from './glyphs.json' with { type: 'json' }

const [WIDTH, HEIGHT] = [600, 315]
const PLOT = { left: 30, right: 569, top: 100, bottom: 262 }

/** The ink of each pixel, 0 to 15; an ink on another leaves the darker one. */
type Canvas = Uint8Array

/**
 * The picture of a strategy at base risk, or of the equal-weight book if `sid` is '': the name, the days, what kind
 * of record it is and when it was entered, the equity, that data are made up, and how it was checked. The id stands for a name with a
 * letter that is not in `glyphs.json`.
 */
export function drawPicture(snapshot: Snapshot, sid: string): Uint8Array<ArrayBuffer> {
  const { dataset, strategies } = snapshot
  const strategy = sid === '' ? null : strategyOf(snapshot, sid)!
  const { name, window } = strategy ?? dataset
  const { values } = strategy?.daily ?? equalWeightBookOf(snapshot).daily
  const count = `${whole(values.length)} days · ${whole(strategies.length)} strategies`
  const of = strategy === null ? [BOOK] : [stateName(strategy), dataset.name]
  const canvas = new Uint8Array(WIDTH * HEIGHT)
  drawText(canvas, 'large', 54, isDrawable(name) ? name : sid || BOOK)
  drawText(canvas, 'small', 80, `${daysOf(window)} · ${strategy === null ? count : originOf(strategy)}`)
  const source = [...(dataset.synthetic ? ['SYNTHETIC DATA'] : []), ...of.filter(isDrawable)]
  drawText(canvas, 'small', 298, source.join(' · '))
  drawEquity(canvas, equityFromBaseline(values))
  return toPng(canvas)
}

const BOOK = 'Equal-weight book'

const darken = (canvas: Canvas, x: number, y: number, ink: number): void => {
  const at = y * WIDTH + x
  canvas[at] = Math.max(canvas[at]!, ink)
}

// Text, from `docs/draw-glyphs.ts`.

const GLYPHS: Readonly<Record<'large' | 'small', Readonly<Record<string, string>>>> = glyphs

/** Numbers are grouped by narrow spaces. */
const lettersOf = (text: string): string[] => Array.from(text, letter => (/\s/u.test(letter) ? ' ' : letter))

const isDrawable = (text: string): boolean => lettersOf(text).every(letter => letter in GLYPHS.large)

/** A line of text on a baseline, cut where the plot ends. Its letters are drawable. */
function drawText(canvas: Canvas, size: keyof typeof GLYPHS, baseline: number, text: string): void {
  const font = GLYPHS[size]
  const advanceOf = (letter: string) => Number.parseInt(font[letter]!, 10)
  const lengthOf = (letters: readonly string[]) => letters.reduce((sum, each) => sum + advanceOf(each), 0)
  let letters = lettersOf(text)
  for (let n = letters.length; lengthOf(letters) > PLOT.right - PLOT.left; n--)
    letters = [...letters.slice(0, n - 1), '…']
  let x = PLOT.left
  for (const letter of letters) {
    const [advance = 0, left = 0, top = 0, width = 0] = font[letter]!.split(',', 4).map(Number)
    const shades = font[letter]!.split(',', 5)[4]!
    for (let i = 0; i < shades.length; i++) {
      const [across, down] = [i % width, Math.floor(i / width)]
      darken(canvas, x + left + across, baseline + top + down, Number.parseInt(shades[i]!, 16))
    }
    x += advance
  }
}

const RULE_INK = 5
const INK = 15
const CROSS = 6

/** The equity on a logarithmic scale, with a rule at 1. An account that is ruined ends with a cross. */
function drawEquity(canvas: Canvas, equity: Float64Array): void {
  const ruin = equity.findIndex(each => each <= 0)
  const logs = (ruin < 0 ? equity : equity.subarray(0, ruin)).map(Math.log)
  const [low = 0, high = 0] = extent(logs)
  const y = (log: number) => PLOT.bottom - ((PLOT.bottom - PLOT.top) * (log - low)) / (high - low || 1)
  const column = (i: number) =>
    Math.round(((PLOT.right - PLOT.left) * i) / Math.max(equity.length - 1, 1)) + PLOT.left
  for (let x = PLOT.left; x <= PLOT.right; x++) darken(canvas, x, Math.round(y(0)), RULE_INK)
  drawLine(canvas, logs.map(y), column)
  if (ruin < 0) return
  for (let i = -CROSS; i <= CROSS; i++)
    for (const side of [0, 1])
      for (const down of [i, -i])
        darken(canvas, column(ruin - 1) + i + side, Math.round(y(logs.at(-1)!)) + down, INK)
}

const HALF_STROKE = 1

/** A line through heights in pixels: in each column from its lowest to its highest, those of the columns beside it too. */
function drawLine(canvas: Canvas, heights: Float64Array, column: (i: number) => number): void {
  const [tops, bottoms] = [new Float64Array(WIDTH).fill(Infinity), new Float64Array(WIDTH).fill(-Infinity)]
  const reach = (x: number, y: number): void => {
    for (let at = x - 1; at <= x + 1; at++) {
      tops[at] = Math.min(tops[at]!, y)
      bottoms[at] = Math.max(bottoms[at]!, y)
    }
  }
  for (const [i, y] of heights.entries()) {
    const [from, to] = [column(Math.max(i - 1, 0)), column(i)]
    const before = heights[i - 1] ?? y
    for (let x = from; x < to; x++) reach(x, before + ((y - before) * (x - from)) / (to - from))
    reach(to, y)
  }
  for (let x = 0; x < WIDTH; x++) {
    const [first, last] = [tops[x]! - HALF_STROKE, bottoms[x]! + HALF_STROKE]
    for (let y = Math.floor(first); y < last; y++) {
      const share = Math.min(y + 1, last) - Math.max(y, first)
      darken(canvas, x, y, Math.round(INK * share))
    }
  }
}

// PNG (ISO/IEC 15948): four bits a pixel, each an index of the palette.

const [BITS, INDEXED, NO_FILTER] = [4, 3, 0]

/** From white to the ink, #00305a. */
const PALETTE = Uint8Array.from({ length: 48 }, (_, i) =>
  Math.round(255 - ((255 - [0x00, 0x30, 0x5a][i % 3]!) * Math.floor(i / 3)) / INK),
)

function toPng(canvas: Canvas): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header.set([BITS, INDEXED], 8)
  const rows = new Uint8Array((HEIGHT * WIDTH) / 2 + HEIGHT)
  for (let y = 0, to = 0; y < HEIGHT; y++) {
    rows[to++] = NO_FILTER
    for (let at = y * WIDTH; at < (y + 1) * WIDTH; at += 2) rows[to++] = (canvas[at]! << 4) | canvas[at + 1]!
  }
  const parts = [
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', PALETTE),
    chunk('IDAT', zlibSync(rows, { level: 4 })), // the zlib of Node compresses otherwise on other processors
    chunk('IEND', new Uint8Array()),
  ]
  return Uint8Array.from(Buffer.concat(parts))
}

function chunk(type: string, data: Uint8Array): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
