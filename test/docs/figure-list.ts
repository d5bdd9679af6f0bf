// Every statistic with what its schema says of it: the one text that ships in the OpenAPI document and in the docs.
import { z } from 'zod'
import { liveData } from '#core/contract/payloads/live.ts'
import { riskData } from '#core/contract/payloads/risk.ts'
import { statsData } from '#core/contract/payloads/stats.ts'
import { strategyList } from '#core/contract/payloads/strategy.ts'
import { rollingRows } from '#core/dataset/resources/rolling.ts'
import { summaryData } from '#core/dataset/resources/summary.ts'

/** A statistic by its path, as `undefined` names it; that of a cell has the name of its table, without the row. */
export type DescribedFigure = {
  readonly path: string
  readonly about: string
  readonly formula: string
  readonly nullWhen: readonly string[]
}

/** Statistics that share their conventions. */
export type FigureGroup = {
  /** The path of the block, empty for the top. */
  readonly path: string
  readonly about: string
  readonly convention: string
  readonly figures: readonly DescribedFigure[]
}

/** The groups of `/v1/strategies/{sid}/stats`, in the order of the answer. */
export const statsGroups = (): FigureGroup[] => groupsIn(toNode(statsData()))

/** Those of `/v1/summary`. */
export const summaryGroups = (): FigureGroup[] => groupsIn(toNode(summaryData()))

/** That of `/v1/strategies/{sid}/rolling`. */
export const rollingGroups = (): FigureGroup[] => groupsIn(toNode(rollingRows()))

/** Those of `/v1/strategies/{sid}/risk`. */
export const riskGroups = (): FigureGroup[] => groupsIn(toNode(riskData()))

/** Those of `/v1/strategies/{sid}/live`. */
export const liveGroups = (): FigureGroup[] => groupsIn(toNode(liveData()))

/** The fields of statistics and of the catalogue that open data do not determine, each with its description. */
export const notRecomputableFields = (): Map<string, string> =>
  new Map([statsData(), strategyList()].flatMap(payload => closedIn(toNode(payload))))

/** The fields of the statistics. */
export const statsFields = (): string[] => leavesIn(toNode(statsData()))

const leavesIn = (node: Node, path = ''): string[] => {
  const fields = Object.entries(fieldsOf(node))
  return fields.length === 0 ? [path] : fields.flatMap(([name, child]) => leavesIn(child, join(path, name)))
}

const closedIn = (node: Node, path = ''): [string, string][] =>
  node['x-recomputable'] === false
    ? [[path, aboutOf(node)]]
    : Object.entries(fieldsOf(node)).flatMap(([name, child]) => closedIn(child, join(path, name)))

const join = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`)

type Node = {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly 'x-formula'?: string
  readonly 'x-null-when'?: readonly string[]
  readonly 'x-convention'?: string
  readonly 'x-recomputable'?: false
  readonly items?: Node
  readonly anyOf?: readonly Node[]
}

/** A payload as JSON Schema, of which these keywords are read, with its named parts in their places. */
function toNode(payload: z.ZodType): Node {
  const { $defs = {}, ...root } = z.toJSONSchema(payload)
  const unnamed = (node: unknown): unknown =>
    JSON.parse(JSON.stringify(node), (_, value: { readonly $ref?: string } | null) =>
      value?.$ref === undefined ? value : unnamed($defs[value.$ref.replace('#/$defs/', '')]),
    )
  return unnamed(root) as Node
}

/** Those of an object, or of the rows of a table. */
const fieldsOf = ({ properties, items, anyOf = [] }: Node): Readonly<Record<string, Node>> =>
  properties ?? Object.assign({}, ...[items ?? [], ...anyOf].flat().map(fieldsOf))

function groupsIn(root: Node, path = ''): FigureGroup[] {
  const convention = root['x-convention']
  const inside = Object.entries(root.properties ?? {}).flatMap(([name, node]) =>
    groupsIn(node, join(path, name)),
  )
  if (convention === undefined) return inside
  const figures = figuresIn(root, path === '' ? '' : `${path}/`)
  return [{ path, about: root.description ?? '', convention, figures }, ...inside]
}

/** The statistics of a group, those of the blocks in it that have no conventions of their own included. */
const figuresIn = (group: Node, prefix: string): DescribedFigure[] =>
  Object.entries(fieldsOf(group)).flatMap(([name, node]) => {
    const path = prefix + name
    const formula = node['x-formula']
    if (formula !== undefined) {
      return [{ path, about: aboutOf(node), formula, nullWhen: node['x-null-when'] ?? [] }]
    }
    return node['x-convention'] === undefined ? figuresIn(node, `${path}/`) : []
  })

/** The definition is on the field, or on the number that may be null. */
const aboutOf = ({ description, anyOf = [] }: Node): string =>
  description ?? anyOf.flatMap(branch => branch.description ?? [])[0] ?? ''
