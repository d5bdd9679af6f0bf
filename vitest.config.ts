import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from '#test/support/runner/longest-first.ts'

/** Files at a time: more than cores, because a test of processes and outages waits for much of its time. */
const WORKERS = availableParallelism() * 2

// Every process of a test loads the same dependencies: they are compiled once, to where `highwater` itself keeps them.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** A wedged test ends by itself; no assertion depends on how long anything takes. */
const WEDGED_MS = 300_000

/** How long an assertion is tried again: it ends a test that can no longer pass, and a busy machine never reaches it. */
const PATIENCE_MS = 60_000

/** A build on one thread starts none: that takes a second where the code of the tasks is loaded already. */
const ONE_THREAD = ['--import', join(import.meta.dirname, 'test/support/runner/one-thread.ts')]

/** What holds for every test, and for what the files of a run share. */
const COMMON = {
  pool: 'forks',
  isolate: false,
  execArgv: ONE_THREAD,
  // Node loads them as it loads the product: nothing is transformed, and what was compiled is kept.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  maxWorkers: WORKERS,
  testTimeout: WEDGED_MS,
  hookTimeout: WEDGED_MS,
  expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
  setupFiles: ['./test/support/runner/end-file.ts'],
} satisfies TestProjectInlineConfiguration['test']

/** The modules under test keep no state, so one process imports them once for many files: half the time. */
const project = (name: string, include: string[], exclude: string[] = []) => ({
  test: { ...COMMON, name, include, exclude },
})

/** Where a test publishes, serves or runs a whole: too slow for a check after every change. */
const WHOLE = 'api/service,cli,deploy,fleet,forgeries,pipeline/modules,pipeline/night,static-build'

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    reporters: ['./test/support/runner/progress-reporter.ts'],
    globalSetup: ['./test/support/runner/run.ts'],
    projects: [
      project('fast', ['test/**/*.test.ts'], [`test/{system,${WHOLE}}/**`, 'test/**/*.redis.test.ts']),
      // Whole commands and nights in this process, what is published, served and deployed, and modules in processes of their own.
      project('commands', [`test/{${WHOLE}}/**/*.test.ts`], ['test/**/*.redis.test.ts']),
      // On a real Redis, many of them: too slow for a check after every change.
      project('redis', ['test/**/*.redis.test.ts']),
      // Whole programs, real processes, real servers and whole builds.
      project('system', ['test/system/**/*.test.ts']),
    ],
  },
})
