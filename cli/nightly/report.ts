import { hostname } from 'node:os'
import { privateKey } from '#core/contract/artifacts.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { openStore } from '#storage/open-store.ts'
import type { BuildSummary } from '../build-summary.ts'
import type { StoreUrls } from '../store-option.ts'
import type { Terminal } from '../terminal.ts'

/** The steps of a night, in their order. */
export type StepName = 'import' | 'build' | 'verify' | 'purge'

export type Step = {
  readonly step: StepName
  readonly outcome: 'done' | 'failed'
  readonly ms: number
}

/** How a night went, for people and for programs. */
export type NightReport = {
  readonly outcome: 'done' | 'failed'
  /** What it published, null where it published nothing. */
  readonly version: string | null
  readonly host: string
  readonly started_utc: string
  readonly ended_utc: string
  readonly steps: readonly Step[]
  /** Why it failed, null where it did not. */
  readonly error: string | null
  readonly summary: BuildSummary | null
}

/** Longer messages are cut: a book may have thousands of problems, and the log has them all. */
const LONGEST_ERROR = 2_000

export function toReport(
  started_utc: string,
  ended_utc: string,
  steps: readonly Step[],
  summary: BuildSummary | null,
  error: unknown,
): NightReport {
  const message = error instanceof Error ? error.message : String(error)
  return {
    outcome: error === null ? 'done' : 'failed',
    version: summary?.version ?? null,
    host: hostname(),
    started_utc,
    ended_utc,
    steps,
    error: error === null ? null : message.slice(0, LONGEST_ERROR),
    summary,
  }
}

/** Keeps the report beside the record of the build; a night that published nothing has no place there. */
export async function keepReport(report: NightReport, urls: StoreUrls, { note }: Terminal): Promise<void> {
  if (report.version === null) return
  try {
    const store = await openStore(urls.privateStoreUrl, urls.s3)
    const headers = { content_type: 'application/json' }
    await store.replace(privateKey(report.version, 'night.json'), toJsonBytes(report), headers)
  } catch (error) {
    note(`warning: the report was not kept: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const NAME_WIDTH = 8

/** A line for the night, and a line a step. */
export function printReport(report: NightReport, { print }: Terminal): void {
  const { outcome, version, started_utc, ended_utc, steps } = report
  print(`night ${outcome}: ${version ?? 'nothing'} published   ${started_utc} to ${ended_utc}`)
  for (const { step, outcome: how, ms } of steps) {
    print(`${how === 'done' ? 'ok    ' : 'FAILED'}  ${step.padEnd(NAME_WIDTH)} ${(ms / 1_000).toFixed(1)} s`)
  }
}
