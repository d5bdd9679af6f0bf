import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, the longest first. One that begins when all others are done leaves the other workers idle to
 * its end; a clean checkout has no durations of earlier runs, so the longest are listed here. The order need not be exact.
 */
const LONGEST = [
  ...['installing-page', 'fleet', 'killed-build', 'own-redis', 'pages-for-readers', 'python-client'],
  ...['recompute', 'docs-pages', 'pages', 'readme', 'damaged-store', 'folder-limits'],
  ...['s3-store', 's3-build', 'verify-remote', 'killed-signals', 'serve-history', 'run', 'guides'],
  ...['serve-signals.redis', 'receivers.redis', 'delivery.redis', 'run.redis', 'build.redis'],
  ...['real-imports', 'nightly', 'cdn-traffic', 'nginx-switch', 'nginx-files', 'diff', 'preview', 'doctor'],
]

/** Whole programs first, what lives in this process last: short files fill the end. A project stays together: it shares imports. */
const PROJECTS = ['system', 'redis', 'commands', 'fast']

/** Starts the longest files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files) // what is not listed: by its last duration where one is known, else by its size
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

function placeOf({ project, moduleId }: TestSpecification): number {
  const place = LONGEST.indexOf(basename(moduleId, '.test.ts'))
  return PROJECTS.indexOf(project.name) * 1_000 + (place < 0 ? LONGEST.length : place)
}
