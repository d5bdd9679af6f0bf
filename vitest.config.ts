import { defineConfig } from 'vitest/config'

/** A wedged test ends by itself; no assertion depends on how long anything takes. */
const WEDGED_MS = 120_000

const project = (name: string, include: string[], exclude: string[] = [], isolate = true) => ({
  extends: true as const,
  test: { name, include, exclude, isolate, globalSetup: ['./test/setup/publish-tiny.ts'] },
})

export default defineConfig({
  test: {
    pool: 'threads',
    maxWorkers: '100%', // the default leaves a core idle, which is half of a small machine
    testTimeout: WEDGED_MS,
    hookTimeout: WEDGED_MS,
    reporters: ['default', './test/tally-reporter.ts'],
    projects: [
      // The modules under test keep no state, so one thread may import them once for many files: half the time.
      project('fast', ['test/**/*.test.ts'], ['test/system/**'], false),
      // Whole programs, real processes and whole builds.
      project('system', ['test/system/**/*.test.ts']),
    ],
  },
})
