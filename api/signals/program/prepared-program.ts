import { LRUCache } from 'lru-cache'
import { ApiError } from '#core/contract/errors.ts'
import { type ProgramDeploy, programDeploys } from '#core/contract/payloads/program.ts'
import { type PreparedSimulation, prepareSimulation } from '#core/dataset/resources/program/records.ts'
import { sha256 } from '#storage/digest.ts'
import type { ServedProgram } from '#storage/published-files.ts'

/** Alias while no program is published. */
const DEFAULT_PROGRAM_ALIAS = 'accumulation'

/** The name of the program's flag among the entitlements. */
export const programAliasOf = (served: ServedProgram | null): string => served?.alias ?? DEFAULT_PROGRAM_ALIAS

/** Cached deployments of simulations: some ten megabytes. Ten years of days have at most some 8 000. */
export const MOST_DEPLOYMENTS = 100_000

export type PreparedProgram = ServedProgram & {
  /** Ascending by seq. */
  readonly deploys: readonly ProgramDeploy[]
  /** The ETag of the published preview; weak, because the envelope differs per answer. */
  readonly previewEtag: string
  /** The run of a cadence with one dollar; results scale linearly with equity. */
  readonly simulationOf: (cadenceBars: number) => PreparedSimulation
}

/** Returns the program that is served now. Throws `not_found` if there is none. */
export function createPrograms(current: () => ServedProgram | null): () => PreparedProgram {
  let last: { readonly served: ServedProgram; readonly prepared: PreparedProgram } | null = null
  return () => {
    const served = current()
    if (served === null) throw new ApiError('not_found', 'no accumulation program is published')
    if (last?.served !== served) last = { served, prepared: prepare(served) }
    return last.prepared
  }
}

function prepare(served: ServedProgram): PreparedProgram {
  const { data, documents } = served
  const known = new LRUCache<number, PreparedSimulation>({
    maxSize: MOST_DEPLOYMENTS,
    sizeCalculation: ({ simulation }) => simulation.deployments.length + 1,
    memoMethod: cadenceBars => prepareSimulation(data, cadenceBars),
  })
  return {
    ...served,
    deploys: programDeploys.parse(JSON.parse(new TextDecoder().decode(documents.deploys))),
    previewEtag: `W/"${sha256(documents.preview)}"`,
    simulationOf: cadenceBars => known.memo(cadenceBars),
  }
}
