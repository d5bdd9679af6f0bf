// `make bench`, `make bench PART=static`: measures the history service beside its peers and its targets, writes
// bench/results.md, and ends with 1 where a target is missed.
import { onGround } from './harness/ground.ts'
import { renderSection, saveSection } from './harness/report.ts'
import { measureBuild } from './history/build.ts'
import { measureCompression } from './history/compression.ts'
import { measureFigures } from './history/figures.ts'
import { measureFleet } from './history/fleet.ts'
import { measureKernels } from './history/kernels.ts'
import { measurePages } from './history/pages.ts'
import { measurePreview } from './history/preview.ts'
import { measureRescale } from './history/rescale.ts'
import { measureStart } from './history/start.ts'
import { measureStatic } from './history/static.ts'

const PARTS = {
  static: measureStatic,
  rescale: measureRescale,
  kernels: measureKernels,
  figures: measureFigures,
  start: measureStart,
  build: measureBuild,
  compression: measureCompression,
  preview: measurePreview,
  pages: measurePages,
  fleet: measureFleet,
}

/** Measured only if it is named: it takes most of an hour. */
const LONG = 'fleet'

const asked = process.argv.slice(2).filter(name => name !== '')
const unknown = asked.filter(name => !Object.hasOwn(PARTS, name))
if (unknown.length > 0)
  throw new Error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`)

for (const [name, measure] of Object.entries(PARTS)) {
  if (asked.length > 0 ? !asked.includes(name) : name === LONG) continue
  const section = await onGround(measure)
  await saveSection(section)
  console.log(renderSection(section))
  if (section.figures.some(({ isReached }) => isReached === false)) process.exitCode = 1
}
