// Builds on a fleet, as the operator's page shows them.
import { html } from 'hono/html'
import type { FleetProgress } from '#storage/fleet-progress.ts'
import { duration, moment, type Piece, table } from './layout.ts'

/** A task takes seconds, and the work of a killed worker begins again after 15 s. */
const SILENT_MS = 3 * 60_000

export const buildsPage = (builds: readonly FleetProgress[], nowMs: number): Piece => html`<h1>Builds</h1>
${table(
  ['Run', 'Version', 'Phase', '#Done', 'Workers', 'Last progress', 'State'],
  builds.map(build => row(build, nowMs)),
  'No build on a fleet is under way. A build on one machine shows its progress in its terminal.',
)}`

function row(
  { run, dataset_version, phase, done, total, workers, progressed_at }: FleetProgress,
  nowMs: number,
): Piece {
  const atMs = Date.parse(progressed_at)
  const silentMs = nowMs - atMs
  const state =
    silentMs < SILENT_MS
      ? html`<span class="good">under way</span>`
      : html`<span class="bad">no progress for ${duration(silentMs)}</span>`
  const counts = Object.entries(workers).map(([name, count]) => html`<div>${name}: ${count}</div>`)
  return html`<tr><td>${run}</td><td>${dataset_version}</td><td>${phase}</td><td class="n">${done} of ${total}</td><td>${
    counts.length === 0 ? 'none yet' : counts
  }</td><td>${moment(atMs)}</td><td>${state}</td></tr>`
}
