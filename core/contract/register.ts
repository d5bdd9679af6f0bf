// The register: the block `meta` that says what an answer is, where it comes from and under which terms.
import type { Meta, meta } from './payloads/meta.ts'

/** What a resource adds to the register: everything past the fixed block, and another basis. */
export type MetaExtra = Partial<Pick<Meta, 'basis' | Exclude<keyof typeof meta.shape, keyof Register>>>

/** What the register says of a dataset, or of none (`version` null). */
type Provenance = { readonly version: string | null; readonly disclaimer: string }

/** The disclaimer of a catalogue that brings none, and of a service without a dataset. */
export const DEFAULT_DISCLAIMER =
  'Historical, backtested or modelled results, published as factual information for professional and institutional ' +
  'use. They were not achieved by trading a real account, are made with the benefit of hindsight, and rest on ' +
  'assumptions about costs, liquidity and execution that may not hold. Leveraged trading can lose all of the ' +
  'capital committed. Past results, modelled or real, are no guide to future results. Nothing here is advice, a ' +
  'recommendation, an offer or a forecast.'

export type Register = ReturnType<typeof register>

/** The fixed block of the register, in the order of the wire. */
export const register = (of: Provenance, generatedUtc: string | null, timingMs: number | null) => ({
  basis: 'backtested',
  register: 'factual_historical',
  audience: 'professional_institutional',
  license: 'global',
  dataset_version: of.version,
  generated_utc: generatedUtc,
  timing_ms: timingMs,
  disclaimer: of.disclaimer,
})

/** Related resources as relative paths; `self` is the canonical path of the answer. */
export type Links = Readonly<Record<string, string>>
