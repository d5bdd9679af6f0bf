import type { Alert } from '#signals/alert.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readProgram, type ServedProgram } from '#storage/published-program.ts'

/** How often the served version is looked at: a program that is published is served this long after. */
const LOOK_MS = 5_000

/** The program of the served version. */
export type FollowedProgram = {
  /** Null where the served version has none, and as long as nothing could be read. */
  readonly current: () => ServedProgram | null
  readonly stop: () => void
}

export type ProgramSource = { readonly store: ObjectStore; readonly privateStore: ObjectStore }

/** Who is told that a program cannot be read. Alerts that repeat are the channel's business. */
export type ProgramListeners = {
  readonly onError: (error: unknown) => void
  readonly raise: (alert: Alert) => void
}

/** Looks at once, and again and again. A program that cannot be read leaves the one before in its place. */
export async function followProgram(
  source: ProgramSource,
  listeners: ProgramListeners,
): Promise<FollowedProgram> {
  const { look, current } = createProgramReader(source, listeners)
  await look()
  const timer = setInterval(() => void look(), LOOK_MS)
  return { current, stop: () => clearInterval(timer) }
}

/** The same without the timer: `look` never rejects. */
export function createProgramReader({ store, privateStore }: ProgramSource, listeners: ProgramListeners) {
  let program: ServedProgram | null = null
  let seen = ''
  let isLooking = false
  const read = async (): Promise<void> => {
    const head = await readHead(store)
    if (head === null || head.entry.manifest_sha256 === seen) return
    program = await readProgram(store, privateStore, head.entry)
    seen = head.entry.manifest_sha256
  }
  const look = async (): Promise<void> => {
    if (isLooking) return // an answer that was slow would put an older program in the place of a newer one
    isLooking = true
    await read().catch((error: unknown) => tell(error, program, listeners))
    isLooking = false
  }
  return { look, current: () => program }
}

function tell(error: unknown, served: ServedProgram | null, { onError, raise }: ProgramListeners): void {
  onError(error)
  const instead = served === null ? 'no program is served' : `that of ${served.version} is served on`
  raise({
    kind: 'program_unreadable',
    subject: 'program',
    message: `the program of the served version cannot be read, ${instead}: ${error instanceof Error ? error.message : String(error)}`,
  })
}
