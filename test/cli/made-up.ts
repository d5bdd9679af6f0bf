import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createTerminal } from '#cli/print/terminal.ts'
import { runCommand } from '#cli/program.ts'
import type { Runtime } from '#cli/runtime.ts'

/** A stream that keeps what is written to it. */
export function createStream() {
  const chunks: string[] = []
  return { write: (text: string) => chunks.push(text), text: () => chunks.join('') }
}

const ROOT = resolve(import.meta.dirname, '../..')

/** The instant that a made-up world believes to be now. */
export const NOW_MS = Date.parse('2024-01-15T06:00:00Z')

/** Runtime of a command with a clock that stands still, and what it says on its two streams. */
export function madeUp({ env, ...others }: Partial<Runtime> = {}) {
  const [out, err] = [createStream(), createStream()]
  const runtime: Runtime = {
    env: { DATA_FOLDER: join(tmpdir(), 'no-data'), ...env }, // not that of the machine
    root: ROOT,
    home: ROOT,
    cwd: ROOT,
    now: () => NOW_MS,
    elapsed: () => 0,
    pause: () => Promise.resolve(),
    logStream: { write: () => {} },
    random: () => 0.5,
    drawBytes: count => new Uint8Array(count).fill(7),
    cores: 1,
    terminal: createTerminal({ out, err, elapsedMs: () => 1_000 }),
    untilStopped: () => Promise.resolve(),
    ...others,
  }
  return { runtime, out: out.text, err: err.text }
}

/** Runs a command in a made-up world: its exit code and what it said. */
export async function run(args: readonly string[], changes: Parameters<typeof madeUp>[0] = {}) {
  const { runtime, out, err } = madeUp(changes)
  const code = await runCommand(args, runtime)
  return { code, out: out(), err: err() }
}
