import type { AccountPath } from './account-path.ts'
import { type Figure, isUndefined, undefinedBecause } from './figure.ts'

/** The block itself, or, where the account is ruined, the same fields undefined: a ratio of nothing says nothing. */
export const unlessRuined = <Field extends string>(
  { ruinDay }: AccountPath,
  block: Record<Field, Figure>,
): Record<Field, Figure> => (ruinDay === null ? block : ruinedFigures(block))

/** On fewer than two days, whatever else is missing, the reason is that there are too few. */
export const orTooFew = ({ daily }: AccountPath, figure: Figure): Figure =>
  isUndefined(figure) && daily.values.length < 2 ? undefinedBecause('too_few_points') : figure

function ruinedFigures<Field extends string>(block: Record<Field, Figure>): Record<Field, Figure> {
  const ruined = { ...block }
  for (const field in ruined) ruined[field] = undefinedBecause('ruin')
  return ruined
}
