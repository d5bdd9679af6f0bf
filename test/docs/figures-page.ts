// `docs/figures.md`: every statistic with its definition, formula, conventions and null rule.
import { ABOUT_REASONS } from '#core/contract/payloads/figure-rule.ts'
import { type DescribedFigure, type FigureGroup, statsGroups, summaryGroups } from './figure-list.ts'

/** The page, made of the descriptions of the payloads. */
export const renderFiguresPage = (): string =>
  [
    ...HEADING,
    ...statsGroups().flatMap(group => renderGroup('`/v1/strategies/{sid}/stats`', group)),
    ...summaryGroups().flatMap(group => renderGroup('`/v1/summary`', group)),
    '## When a figure is null',
    '',
    'Its path stands in `undefined` of the same block, with one of these reasons. A figure is never NaN, and never 0 where it',
    'does not exist.',
    '',
    '| Reason | Meaning |',
    '|---|---|',
    ...Object.entries(ABOUT_REASONS).map(([reason, about]) => `| \`${reason}\` | ${about} |`),
    '',
  ].join('\n')

const HEADING = [
  '<!-- Made from the descriptions in core/contract/payloads by `UPDATE_GOLDEN=1 vitest run figures`: change those. -->',
  '# The figures',
  '',
  'Every statistic that the history service publishes: its definition, its formula and when it is null. The same text is in',
  'the API reference at `/docs`, as `x-formula`, `x-null-when` and `x-convention` of the schema. The code of each',
  'is a file of `core/figures` with its source; other words are in the [glossary](glossary.md).',
  '',
]

const renderGroup = (route: string, { path, about, convention, figures }: FigureGroup): string[] => [
  path === '' ? `## ${route}` : `## ${route}, \`${path}\``,
  '',
  about,
  '',
  `Convention. ${convention}`,
  '',
  '| Field | Definition | Formula | Null when |',
  '|---|---|---|---|',
  ...figures.map(figure => renderFigure(figure, path)),
  '',
]

const renderFigure = ({ path, about, formula, nullWhen }: DescribedFigure, group: string): string => {
  const field = group === '' ? path : path.slice(group.length + 1)
  const reasons = nullWhen.map(reason => `\`${reason}\``).join(', ')
  return `| \`${field}\` | ${escapeCell(about)} | \`${escapeCell(formula)}\` | ${reasons === '' ? 'never' : reasons} |`
}

/** A bar would end the cell. */
const escapeCell = (text: string): string => text.replaceAll('|', '\\|')
