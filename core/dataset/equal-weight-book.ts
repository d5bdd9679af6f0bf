import { toPublishedSeries } from '#core/contract/rounding.ts'
import { type Book, equalWeightBook } from '#core/figures/book.ts'
import type { Series } from '#core/figures/series.ts'
import type { Snapshot } from './snapshot.ts'

/** The name of its column in `/v1/benchmark`. */
export const BOOK_COLUMN = 'equal_weight_book'

/** The equal-weight book of a dataset; `published`: its returns as `/v1/benchmark` has them. */
type DatasetBook = Book & { readonly published: Series }

/** Made once for each snapshot and all parts of it, because every fact sheet shows it. */
const BOOKS = new WeakMap<Snapshot['strategies'] | Book, DatasetBook>()

export function equalWeightBookOf({ strategies, others }: Snapshot): DatasetBook {
  const source = others?.book ?? strategies
  const made = BOOKS.get(source)
  if (made !== undefined) return made
  const book = others?.book ?? equalWeightBook(strategies.map(({ daily }) => daily))
  const found = { ...book, published: toPublishedSeries(book.daily) }
  BOOKS.set(source, found)
  BOOKS.set(found, found) // parts have it
  return found
}
