// The parts of a whole, side by side in one bar.
import { decimal } from '../format.ts'
import { escapeText, legend, tenth } from './svg.ts'

export type Share = {
  readonly name: string
  /** Class of its colour: `series0`, `other`. */
  readonly kind: string
  /** 0 to 1; all of them sum to 1. */
  readonly fraction: number
}

const WIDTH = 720

/** A bar as wide as its place, with the names and percents of its parts, and a caveat, below. */
export function shareBar(title: string, shares: readonly Share[], caveat: string | null): string {
  const named = shares.map(({ name, kind, fraction }) => ({
    name: `${name} ${decimal(100 * fraction, 1)}\u202f%`,
    kind: `share ${kind}`,
    width: tenth(fraction * WIDTH),
  }))
  let left = 0
  const parts = named.map(({ name, kind, width }) => {
    const part = `<path class="line ${kind}" d="M${tenth(left)} 8h${width}"><title>${escapeText(name)}</title></path>`
    left += width
    return part
  })
  return `<svg class="shares" viewBox="0 0 ${WIDTH} 16" preserveAspectRatio="none" role="img" aria-label="${escapeText(title)}">${parts.join('')}</svg>${legend(named)}${caveat === null ? '' : `<p class="note">${escapeText(caveat)}</p>`}`
}
