import { inject } from 'vitest'
import type { Shared } from './run.ts'

/** What all files of a run share, started when the first of them asks. Rejects with the reason if it cannot be started. */
export async function shared<Name extends keyof Shared>(name: Name): Promise<Shared[Name]> {
  const response = await fetch(`${inject('run')}/${name}`)
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as Shared[Name] // what `run.ts` sent under this name
}
