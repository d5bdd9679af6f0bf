import type { Alert } from '#signals/alerts.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readProgramOf, type ServedProgram } from '#storage/published-program.ts'
import type { FollowedManifest, ServedManifest } from './served-manifest.ts'

/** The program of the served version; null if it has none, or none could be read yet. */
export type FollowedProgram = () => ServedProgram | null

export type ProgramListeners = {
  readonly onError: (error: unknown) => void
  readonly raise: (alert: Alert) => void
}

/** Follows the served version. A program that cannot be read leaves the previous one in place. */
export async function followProgram(
  served: Pick<FollowedManifest, 'add'>,
  privateStore: ObjectStore,
  listeners: ProgramListeners,
): Promise<FollowedProgram> {
  let program: ServedProgram | null = null
  const take = async (manifest: ServedManifest): Promise<void> => {
    program = await readProgramOf(privateStore, manifest)
  }
  await served.add({ take, onError: error => tell(error, program, listeners) })
  return () => program
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
