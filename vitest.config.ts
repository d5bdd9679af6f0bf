import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from '#test/support/runner/longest-first.ts'

/** Files at a time: more than cores, because a test of processes and outages waits for much of its time. */
const WORKERS = availableParallelism() * 2

// Every thread of a test loads the same dependencies: they are compiled once, to where `highwater` itself keeps them.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** A wedged test ends by itself; no assertion depends on how long anything takes. */
const WEDGED_MS = 300_000

/** How long an assertion is tried again: it ends a test that can no longer pass, and a busy machine never reaches it. */
const PATIENCE_MS = 60_000

const TINY_STORE = './test/support/books/publish-tiny.ts'
const S3_SERVER = './test/support/servers/s3-server.ts'
const CHROMIUM = './test/support/browser/chromium.ts'

const project = (
  name: string,
  test: { include: string[]; exclude?: string[]; isolate?: boolean; globalSetup: string[] },
) => ({ extends: true as const, test: { name, ...test } })

export default defineConfig({
  test: {
    pool: 'threads',
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    testTimeout: WEDGED_MS,
    hookTimeout: WEDGED_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    reporters: ['default', './test/support/runner/summary-reporter.ts'],
    projects: [
      // The modules under test keep no state, so one thread may import them once for many files: half the time.
      project('fast', {
        include: ['test/**/*.test.ts'],
        exclude: ['test/{system,cli,deploy,pipeline/modules,pipeline/night}/**', 'test/**/*.redis.test.ts'],
        isolate: false,
        globalSetup: [TINY_STORE],
      }),
      // Whole commands and nights in this process, what is deployed, and modules in processes of their own.
      project('commands', {
        include: ['test/{cli,deploy,pipeline/modules,pipeline/night}/**/*.test.ts'],
        isolate: false,
        globalSetup: [TINY_STORE],
      }),
      // On a real Redis, many of them: too slow for a check after every change.
      project('redis', { include: ['test/**/*.redis.test.ts'], isolate: false, globalSetup: [] }),
      // Whole programs, real processes, real servers and whole builds.
      project('system', {
        include: ['test/system/**/*.test.ts'],
        globalSetup: [TINY_STORE, S3_SERVER, CHROMIUM],
      }),
    ],
  },
})
