import type { Params } from '#core/contract/parameters.ts'
import type { Links, MetaExtra } from '#core/contract/register.ts'
import type { Json } from '../render/json.ts'
import type { Table } from '../render/table.ts'
import type { Snapshot } from '../snapshot.ts'

/** What a resource answers: a payload, what it adds to the register, its relations, and its rows where CSV exists. */
export type Answer = {
  readonly data: Json
  readonly meta: MetaExtra
  readonly links: Links
  readonly table?: Table
}

/**
 * A resource is a pure function of a dataset and its parameters. The static build evaluates it at every canonical
 * point, the thin tier at all others; neither adds anything. Throws ApiError `not_found` for an unknown strategy.
 */
export type Resource = (snapshot: Snapshot, params: Params) => Answer
