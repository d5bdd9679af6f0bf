// Draws the letters of the pictures of previews, with DejaVu Sans as Chromium draws it: node docs/draw-glyphs.ts
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launchChromium } from '#test/support/browser/chromium.ts'

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i)).join('')

/** ASCII, Latin 1 and Latin Extended A, Greek, Cyrillic, and what texts are joined and cut with. */
const LETTERS = `${range(0x20, 0x7e)}${range(0xa1, 0xac)}${range(0xae, 0x17f)}${range(0x391, 0x3a1)}${range(0x3a3, 0x3ce)}${range(0x401, 0x45f)}–—‘’“”…−`

/** What a browser has; the types of this project are those of Node. */
declare const OffscreenCanvas: {
  new (
    width: number,
    height: number,
  ): {
    getContext(
      kind: '2d',
      options: { willReadFrequently: true },
    ): {
      font: string
      fillStyle: string
      fillRect(x: number, y: number, width: number, height: number): void
      fillText(text: string, x: number, y: number): void
      measureText(text: string): { width: number }
      getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray }
    }
  }
}

/** Runs in the page. A glyph is `advance,left,top,width,shades`: pixels from its origin, and a hexadecimal digit for each pixel. */
function draw({ size, letters }: { size: number; letters: string }): Record<string, string> {
  const side = 3 * size
  const context = new OffscreenCanvas(side, side).getContext('2d', { willReadFrequently: true })
  context.font = `${size}px "DejaVu Sans"`
  const glyphOf = (letter: string): string => {
    context.fillStyle = '#fff'
    context.fillRect(0, 0, side, side)
    context.fillStyle = '#000'
    context.fillText(letter, size, 2 * size)
    const { data } = context.getImageData(0, 0, side, side)
    const inks = Array.from({ length: side * side }, (_, i) => Math.round((255 - data[4 * i]!) / 17))
    const inked = inks.flatMap((ink, i) => (ink > 0 ? [i] : []))
    const [xs, ys] = [inked.map(i => i % side), inked.map(i => Math.floor(i / side))]
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
    const advance = Math.round(context.measureText(letter).width)
    if (inked.length === 0) return `${advance},0,0,0,`
    const rows = Array.from({ length: bottom - top + 1 }, (_, y) =>
      inks.slice((top + y) * side + left, (top + y) * side + right + 1),
    )
    const shades = rows.flat().map(ink => ink.toString(16))
    return `${advance},${left - size},${top - 2 * size},${right - left + 1},${shades.join('')}`
  }
  return Object.fromEntries([...letters].map(letter => [letter, glyphOf(letter)]))
}

await using browser = await launchChromium()
const page = await browser.newPage()
const glyphs = {
  large: await page.evaluate(draw, { size: 28, letters: LETTERS }),
  small: await page.evaluate(draw, { size: 15, letters: LETTERS }),
}
await writeFile(
  join(import.meta.dirname, '../static-build/glyphs.json'),
  `${JSON.stringify(glyphs, null, 1)}\n`,
)
