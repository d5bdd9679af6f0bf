import type { Command } from 'commander'
import type { Surroundings } from '../surroundings.ts'

/** Gives a command its arguments, its options and what it does. */
export type Define = (command: Command, surroundings: Surroundings) => void

/** A command as the list of all of them tells it. */
export type KnownCommand = {
  readonly name: string
  readonly about: string
  /** Loads the rest. To load all commands takes half a second, and each run needs one. */
  readonly load: () => Promise<Define>
}

/** In the order of `--help`. */
export const COMMANDS: readonly KnownCommand[] = [
  {
    name: 'run',
    about: 'build the sample book if nothing is published, and serve history, signals and the operator',
    load: async () => (await import('./run.ts')).defineRun,
  },
  {
    name: 'init',
    about: 'write a commented starter book that builds as it is',
    load: async () => (await import('./init.ts')).defineInit,
  },
  {
    name: 'check',
    about: 'validate a book without publishing it: every file, every module, every rule',
    load: async () => (await import('./check.ts')).defineCheck,
  },
  {
    name: 'build',
    about: 'compute the dataset of a book and publish it as a version',
    load: async () => (await import('./build.ts')).defineBuild,
  },
  {
    name: 'nightly',
    about: 'import, build, verify, publish, report and ping: a whole night',
    load: async () => (await import('./nightly.ts')).defineNightly,
  },
  {
    name: 'serve',
    about: 'serve what is published, and the live signals',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'live',
    about: 'run the strategies of a book live: one bar at a time, and fire their signals',
    load: async () => (await import('./live.ts')).defineLive,
  },
  {
    name: 'versions',
    about: 'list the published versions, newest first',
    load: async () => (await import('./versions.ts')).defineVersions,
  },
  {
    name: 'rollback',
    about: 'serve an older version again; nothing is deleted',
    load: async () => (await import('./rollback.ts')).defineRollback,
  },
  {
    name: 'refresh',
    about: 'confirm the served version anew, when a night published none',
    load: async () => (await import('./rollback.ts')).defineRefresh,
  },
  {
    name: 'verify-store',
    about: 'hold every published object to its digest',
    load: async () => (await import('./verify-store.ts')).defineVerifyStore,
  },
  {
    name: 'verify-remote',
    about: 'check what a service publishes: the log, signatures, and every file of a version',
    load: async () => (await import('./verify-remote.ts')).defineVerifyRemote,
  },
  {
    name: 'diff',
    about: 'tell what a version appends to another, and what it alters',
    load: async () => (await import('./diff.ts')).defineDiff,
  },
  {
    name: 'prune',
    about: 'remove old versions; they answer 410 from then on',
    load: async () => (await import('./prune.ts')).definePrune,
  },
  {
    name: 'ops',
    about: 'signals, clients and deliveries: what an operator does',
    load: async () => (await import('./ops/ops.ts')).defineOps,
  },
  {
    name: 'keys',
    about: 'keys that sign what is published',
    load: async () => (await import('./keys.ts')).defineKeys,
  },
  {
    name: 'sample',
    about: 'write the embedded sample book: synthetic prices, eight strategies',
    load: async () => (await import('./sample.ts')).defineSample,
  },
]
