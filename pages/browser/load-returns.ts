import type { Period, Series } from '#core/figures/series.ts'
import { parseReturns } from '../returns-csv.ts'

/** The columns of a published CSV of returns. Rejects with a sentence for the reader. */
export async function loadReturns(file: string, period: Period): Promise<ReadonlyMap<string, Series>> {
  const response = await fetch(file).catch(() => null)
  if (response?.ok) return parseReturns(await response.text(), period)
  const why = response === null ? 'there is no answer' : `the answer is ${response.status}`
  throw new Error(`${file} cannot be loaded: ${why}. Try again, or load the page again.`)
}
