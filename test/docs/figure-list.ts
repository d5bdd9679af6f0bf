// Every statistic with what its schema says of it: the one text that ships in the OpenAPI document and in the docs.
import { toSchema } from '#core/contract/openapi-schema.ts'
import { summary } from '#core/contract/payloads/book.ts'
import { stats } from '#core/contract/payloads/stats.ts'

/** A statistic by its path, as `undefined` names it. */
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
export const statsGroups = (): FigureGroup[] => groupsIn(toNode(toSchema(stats)))

/** Those of `/v1/summary`. */
export const summaryGroups = (): FigureGroup[] => groupsIn(toNode(toSchema(summary)))

type Node = {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly 'x-formula'?: string
  readonly 'x-null-when'?: readonly string[]
  readonly 'x-convention'?: string
  readonly anyOf?: readonly Node[]
}

const toNode = (schema: object): Node => schema as Node // JSON Schema, of which these keywords are read

function groupsIn(root: Node, path = ''): FigureGroup[] {
  const convention = root['x-convention']
  const inside = Object.entries(root.properties ?? {}).flatMap(([name, node]) =>
    node.properties === undefined ? [] : groupsIn(node, path === '' ? name : `${path}/${name}`),
  )
  if (convention === undefined) return inside
  const figures = figuresIn(root, path === '' ? '' : `${path}/`)
  return [{ path, about: root.description ?? '', convention, figures }, ...inside]
}

/** The statistics of a group, those of the blocks in it that have no conventions of their own included. */
const figuresIn = (group: Node, prefix: string): DescribedFigure[] =>
  Object.entries(group.properties ?? {}).flatMap(([name, node]) => {
    const path = prefix + name
    const formula = node['x-formula']
    if (formula !== undefined) {
      return [{ path, about: aboutOf(node), formula, nullWhen: node['x-null-when'] ?? [] }]
    }
    return node['x-convention'] === undefined ? figuresIn(node, `${path}/`) : []
  })

/** The definition lies on the field, or on the number that may be null. */
const aboutOf = ({ description, anyOf = [] }: Node): string =>
  description ?? anyOf.flatMap(branch => branch.description ?? [])[0] ?? ''
