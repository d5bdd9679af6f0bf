// `make bench` measures everything beside its peers and its targets in one run and writes bench/results.md; `make bench PART=static`
// measures and prints a part. Both end with 1 if a target is missed.
import { onGround } from './harness/ground.ts'
import { renderSection, saveResults } from './harness/report.ts'
import { measureBuild } from './history/build.ts'
import { measureCdn } from './history/cdn.ts'
import { measureCompression } from './history/compression.ts'
import { measureFigures } from './history/figures.ts'
import { measureFleet } from './history/fleet.ts'
import { measureKernels } from './history/kernels.ts'
import { measurePages } from './history/pages.ts'
import { measurePreview } from './history/preview.ts'
import { measurePublishing } from './history/publish-s3.ts'
import { measureRescale } from './history/rescale.ts'
import { measureStart } from './history/start.ts'
import { measureStatic } from './history/static.ts'
import { measureDelivery } from './signals/delivery.ts'
import { measureSeals } from './signals/seals.ts'

const PARTS = {
  static: measureStatic,
  cdn: measureCdn,
  rescale: measureRescale,
  kernels: measureKernels,
  figures: measureFigures,
  start: measureStart,
  build: measureBuild,
  compression: measureCompression,
  preview: measurePreview,
  pages: measurePages,
  fleet: measureFleet,
  bucket: measurePublishing,
  delivery: measureDelivery,
  seals: measureSeals,
}

const asked = process.argv.slice(2).filter(name => name !== '')
const unknown = asked.filter(name => !Object.hasOwn(PARTS, name))
if (unknown.length > 0)
  throw new Error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`)

const sections: string[] = []
for (const [name, measure] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const section = await onGround(measure)
  sections.push(renderSection(section))
  console.log(sections.at(-1))
  if (section.figures.some(({ isReached }) => isReached === false)) process.exitCode = 1
}
if (asked.length === 0) await saveResults(sections)
