import { type Figure, undefinedBecause } from './figure.ts'
import { NEGLIGIBLE } from './negligible.ts'

/**
 * Omega ratio at threshold 0: the sum of the gains over the sum of the losses. It ignores a positive factor on the
 * returns. Undefined without losses, `<= 1e-12` (`no_losses`).
 *
 * Source: Con Keating and William F. Shadwick, A Universal Performance Measure, 2002.
 */
export function omega(returns: Float64Array): Figure {
  let gains = 0
  let losses = 0
  for (let i = 0; i < returns.length; i++) {
    const value = returns[i]!
    if (value > 0) gains += value
    else losses -= value
  }
  return losses > NEGLIGIBLE ? gains / losses : undefinedBecause('no_losses')
}
