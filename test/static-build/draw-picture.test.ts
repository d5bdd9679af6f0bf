import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { drawPicture } from '#static-build/draw-picture.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'

const [WIDTH, HEIGHT] = [600, 315]

/** The ink of the pixels, 0 to 15, read as PNG says. */
function inksOf(png: Uint8Array): number[][] {
  const bytes = Buffer.from(png)
  expect([bytes.toString('latin1', 1, 4), bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([
    'PNG',
    WIDTH,
    HEIGHT,
  ])
  const at = bytes.indexOf('IDAT')
  const rows = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)))
  return Array.from({ length: HEIGHT }, (_, y) =>
    Array.from({ length: WIDTH }, (_, x) => (rows[y * 301 + 1 + (x >> 1)]! >> (x % 2 === 0 ? 4 : 0)) & 15),
  )
}

/** Pixels of full ink between rows, by column. */
const columnsIn = (inks: number[][], from: number, to: number) =>
  new Set(inks.slice(from, to).flatMap(row => row.flatMap((ink, x) => (ink === 15 ? [x] : []))))

const SYNTHETIC = handSnapshot(
  [
    { id: 'rising', name: 'Rising', returns: Array.from({ length: 900 }, () => 0.001) },
    { id: 'ruined', name: 'Разорён', returns: [0.1, -0.2, -1, 0, 0, 0, 0, 0, 0, 0] },
    { id: 'kanji', name: '漢字', returns: [0.01] },
    { id: 'long', name: 'W'.repeat(200), returns: [0, 0] },
  ],
  { synthetic: true },
)

test('a picture shows the name within its edges, the id in place of a name without glyphs, and the line from its first day to its last, or to its ruin', () => {
  const extents = ['', 'rising', 'ruined', 'kanji', 'long'].map(sid => {
    const inks = inksOf(drawPicture(SYNTHETIC, sid))
    const [name, line] = [columnsIn(inks, 20, 62), columnsIn(inks, 90, 275)]
    expect([sid, name.size > 20, Math.max(...name) < 570]).toEqual([sid, true, true])
    return { sid, name: [...name].length, first: Math.min(...line), last: Math.max(...line) }
  })
  const [, rising, ruined] = extents
  expect(rising).toMatchObject({ first: 29, last: 570 })
  expect(ruined!.last).toBeLessThan(200)
  const named = handSnapshot([{ id: 'kanji', name: 'kanji', returns: [0.01] }], { synthetic: true })
  expect(drawPicture(named, 'kanji')).toEqual(drawPicture(SYNTHETIC, 'kanji'))
})

test('a picture of synthetic data says so, and equal records give equal bytes', () => {
  const real = { ...SYNTHETIC, dataset: { ...SYNTHETIC.dataset, synthetic: false } }
  for (const sid of ['', 'rising']) {
    const [said, silent] = [SYNTHETIC, real].map(snapshot => inksOf(drawPicture(snapshot, sid)))
    expect(said!.slice(0, 275)).toEqual(silent!.slice(0, 275))
    expect(columnsIn(said!, 280, 305).size).toBeGreaterThan(columnsIn(silent!, 280, 305).size + 40)
    expect(drawPicture(structuredClone(SYNTHETIC), sid)).toEqual(drawPicture(SYNTHETIC, sid))
  }
})
