// Words that are nearly known ones: what a refusal suggests.
import leven from 'leven'

/** The known word with the fewest letters to change, two that are swapped as one; null if more than half of them differ. */
export function nearestTo(word: string, known: readonly string[]): string | null {
  let nearest: string | null = null
  let fewest = Math.floor(word.length / 2) + 1
  for (const each of known) {
    const letters = isSwapped(word, each) ? 1 : leven(word, each, { maxDistance: fewest })
    if (letters >= fewest) continue
    nearest = each
    fewest = letters
  }
  return nearest
}

/** The end of a refusal that knows what was probably meant, behind `before`; nothing if no known word is near. */
export function didYouMean(word: string, known: Iterable<string>, before = '; '): string {
  const nearest = nearestTo(word, [...known])
  return nearest === null ? '' : `${before}did you mean '${nearest}'?`
}

/** Whether two neighbouring letters are swapped, and no other differs. */
function isSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i])
  return at >= 0 && a.slice(0, at) + a.charAt(at + 1) + a.charAt(at) + a.slice(at + 2) === b
}

/**
 * Names that no parameter will ever have: what browsers, mailings and advertisements add, and what defeats caches. A
 * cache may drop them without knowing the parameters of a route (deploy/varnish/highwater.vcl, docs/cdn.md).
 */
const NEVER_A_PARAMETER = /^(?:[a-z0-9]?|_.*|utm_.*|fbclid|gclid|msclkid)$/is

/** Words of a parameter's name that are long enough to mean it: `risk`, `version`. */
const SHORTEST_WORD = 4

/** What other interfaces call the same, without punctuation. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  from: ['start', 'startdate', 'datefrom', 'begin', 'since'],
  to: ['end', 'enddate', 'dateto', 'todate', 'until'],
  period: ['interval', 'frequency', 'freq', 'granularity', 'timeframe'],
  ids: ['strategy', 'strategies', 'strategyids'],
  format: ['fmt', 'output'],
}

/** The known parameter that the unknown name `name` probably means; null if it resembles none. */
export function meantBy(name: string, known: readonly string[]): string | null {
  // Longer names resemble nothing, and are not compared.
  if (NEVER_A_PARAMETER.test(name) || name.length > 40) return null
  const letters = lettersOf(name.replace(/^amp;/, '')) // an address that was copied from HTML
  const isMeant: readonly ((parameter: string) => boolean)[] = [
    parameter => lettersOf(parameter) === letters,
    parameter => leven(letters, lettersOf(parameter)) <= slipsIn(lettersOf(parameter)),
    parameter => parameter.split('_').some(word => word.length >= SHORTEST_WORD && letters.startsWith(word)),
    parameter => SYNONYMS[parameter]?.includes(letters) ?? false,
  ]
  return isMeant.map(test => known.find(test)).find(meant => meant !== undefined) ?? null
}

/** How many letters may be wrong: two of a long name, none of `to`. */
const slipsIn = ({ length }: string): number => (length >= 6 ? 2 : length >= 3 ? 1 : 0)

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
