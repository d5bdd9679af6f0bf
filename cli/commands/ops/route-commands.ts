// The commands of the operator's route table: variables of a path are arguments, fields of a query or a body
// are options, the title is the help and the example of the route the example of the help.
import { type Command, Option } from 'commander'
import type { OperatorRoute } from '#api/operator/operator-route.ts'
import { OPERATOR_ROUTES } from '#api/operator/routes.ts'
import { fieldsOf } from '#api/service/page/page-route.ts'
import { variablesOf } from '#core/contract/route.ts'
import { ExitError, type Runtime } from '../../runtime.ts'
import { readEnvironment } from '../../settings/environment.ts'
import { createOperatorClient, type OperatorClient } from './operator-client.ts'

export type Values = Readonly<Record<string, unknown>>

export type Addition = {
  readonly options?: (command: Command) => void
  /** The body, made of the arguments, the fields and the own options. */
  readonly body?: (values: Values, runtime: Runtime) => unknown
  /** What follows the request: returns the answer that is printed. */
  readonly follow?: (
    answer: Values,
    given: Values,
    client: OperatorClient,
    runtime: Runtime,
  ) => Promise<Values>
  /** The exit code that an answer means; 0 if it is not given. */
  readonly exitCode?: (answer: Values) => number
  readonly line?: (answer: Values) => string
  /** What follows `highwater ops` in the example, if the route has none that can be typed. */
  readonly example?: string
  readonly help?: string
}

type Additions = Readonly<Record<string, Addition>>

/** Adds the commands of the routes; `about` has the help of each group, such as `clients`. */
export function addRouteCommands(
  ops: Command,
  runtime: Runtime,
  about: Readonly<Record<string, string>>,
  additions: Additions,
): void {
  for (const [first, ofGroup] of Map.groupBy(OPERATOR_ROUTES, route => wordsOf(route)[0]!)) {
    const isGroup = Object.hasOwn(about, first)
    const group = isGroup ? ops.command(first).description(about[first]!) : ops
    for (const [name, same] of Map.groupBy(ofGroup, route => wordsOf(route).at(-1)!))
      addCommand(group.command(name), same, additions, runtime)
    if (isGroup) group.addHelpText('after', () => exampleText(ofGroup.slice(0, 2), additions))
  }
}

/** `clients add <id>` is the command `add` of the group `clients`. */
const wordsOf = ({ command }: OperatorRoute): readonly string[] =>
  command.usage.split(' ').filter(word => !/[<[]/.test(word))

/** The names of the arguments of a command, such as `client` and `alias`. */
const argumentsOf = ({ command }: OperatorRoute): readonly string[] =>
  command.usage.match(/(?<=[<[])[^>\]]+/g) ?? []

/** One command for one route, or for several of which the number of arguments selects one. */
function addCommand(
  command: Command,
  routes: readonly OperatorRoute[],
  additions: Additions,
  runtime: Runtime,
): void {
  const sorted = routes.toSorted((a, b) => argumentsOf(a).length - argumentsOf(b).length)
  const [narrowest, widest] = [sorted[0]!, sorted.at(-1)!]
  const needed = narrowest.command.usage.split('<').length - 1
  for (const [i, name] of argumentsOf(widest).entries())
    command.argument(i < needed ? `<${name}>` : `[${name}]`)
  for (const route of sorted) {
    for (const field of optionsOf(route)) addOption(command, field)
    additions[route.id]?.options?.(command)
  }
  command
    .description(sorted.map(({ title }) => title.charAt(0).toLowerCase() + title.slice(1)).join('; or: '))
    .option('--json', 'print the answer as one JSON document')
    .addHelpText('after', additions[narrowest.id]?.help ?? '')
    .addHelpText('after', () => exampleText(sorted, additions))
    .action(async () => {
      const given = (command.processedArgs as (string | undefined)[]).filter(text => text !== undefined) // no argument is variadic
      const route = sorted.findLast(each => argumentsOf(each).length <= given.length) ?? narrowest
      const addition = additions[route.id] ?? {}
      const answer = await ask(route, addition, given, command, runtime)
      print(answer, route, addition, command.opts<{ readonly json?: boolean }>().json, runtime)
    })
}

function print(
  answer: unknown,
  { command, secret }: OperatorRoute,
  { line, exitCode }: Addition,
  isJson: boolean | undefined,
  { terminal }: Runtime,
): void {
  const record = isRecord(answer) ? answer : { '': answer }
  const shown = line?.(record) ?? command.prints?.(answer) ?? record
  const lines = () => linesOf(isRecord(shown) ? shown : { '': shown }, secret?.field)
  terminal.result(isJson, answer, typeof shown === 'string' ? [shown] : lines())
  const code = exitCode?.(record) ?? 0
  if (code !== 0) throw new ExitError(code)
}

async function ask(
  route: OperatorRoute,
  addition: Addition,
  given: readonly string[],
  command: Command,
  runtime: Runtime,
): Promise<unknown> {
  const variables = variablesOf(route.path)
  const typed = argumentsOf(route).flatMap((name, i) => {
    const text = given[i]
    return text === undefined ? [] : [[name, route.command.argument?.(text) ?? text] as const]
  })
  const options = command.opts<Values>()
  const fields = optionsOf(route).flatMap(({ name, key }) =>
    command.getOptionValueSource(key) === 'cli' ? [[name, options[key]] as const] : [],
  )
  const values: Values = { ...options, ...Object.fromEntries(typed) }
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[name])),
  )
  const sent = Object.fromEntries([...typed.filter(([name]) => !variables.includes(name)), ...fields])
  const query =
    route.query && new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)]))
  const client = await createOperatorClient(readEnvironment(runtime))
  const answer = await client(
    route.method,
    query === undefined || query.size === 0 ? path : `${path}?${query}`,
    route.body && (await (addition.body?.({ ...values, ...sent }, runtime) ?? sent)),
  )
  if (addition.follow === undefined || !isRecord(answer)) return answer
  return addition.follow(answer, values, client, runtime)
}

/** A field of a query or of a body as an option, such as `overlap-hours`; commander has it under `key`. */
function optionsOf(route: OperatorRoute) {
  const { options = {}, fields } = route.command
  const typed = argumentsOf(route)
  return fieldsOf(route.query ?? route.body)
    .filter(({ name }) => !typed.includes(name) && fields?.includes(name) !== false)
    .map(field => {
      const option = options[field.name] ?? field.name.replaceAll('_', '-')
      const key = option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
      return { ...field, option, key, isInQuery: route.query !== undefined }
    })
}

function addOption(
  command: Command,
  { option, description, type, isInQuery, isRequired, initial }: ReturnType<typeof optionsOf>[number],
): void {
  if (type === 'boolean') {
    command.option(`--${option}`, description.replace(/^true or false: /, ''))
    if (initial === undefined) command.option(`--no-${option}`, `the opposite of --${option}`)
    return
  }
  const flags = `--${option} <${type === 'array' ? 'list' : type === 'string' ? 'text' : 'number'}>`
  const added = new Option(flags, type === 'array' ? `${description}, separated by commas` : description)
  if (type === 'array') added.argParser(toList)
  else if (type !== 'string' && !isInQuery) added.argParser(Number)
  command.addOption(added.makeOptionMandatory(isRequired))
}

const toList = (text: string): readonly string[] => text.split(',').filter(part => part !== '')

const exampleText = (routes: readonly OperatorRoute[], additions: Additions): string =>
  [
    `\n${routes.length === 1 ? 'Example' : 'Examples'}:`,
    ...routes.map(route => `  highwater ops ${additions[route.id]?.example ?? exampleOf(route)}`),
  ].join('\n')

/** `clients entitle new-client --add birch`: the example of a route as it is typed. */
function exampleOf(route: OperatorRoute): string {
  const { path = route.path, body = {} } = route.example ?? {}
  const [plain = '', search = ''] = path.split('?')
  const pattern = new RegExp(`^${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
  const sent = { ...Object.fromEntries(new URLSearchParams(search)), ...body }
  const values: Values = { ...pattern.exec(plain)?.groups, ...sent }
  const typed = argumentsOf(route).map(name => String(values[name] ?? ''))
  const options = optionsOf(route).flatMap(({ name, option }) => {
    const value = values[name]
    if (value === undefined || value === false) return []
    return value === true ? [`--${option}`] : [`--${option}`, quoted(String(value))]
  })
  return [...wordsOf(route), ...typed, ...options].filter(word => word !== '').join(' ')
}

const quoted = (text: string): string => (text.includes(' ') ? `"${text}"` : text)

/** An answer as people read it: a line a field, a table for a list, and a secret on a line of its own. */
function linesOf(answer: Values, secret?: string): readonly string[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    const label = name === '' ? [] : [name.replaceAll('_', ' ')]
    if (name === secret) return value === null ? [] : [`${name}, shown this once:`, String(value)]
    if (Array.isArray(value) && value.some(isRecord))
      return [...label.map(text => `${text}:`), ...tableOf(value.filter(isRecord))]
    if (isRecord(value)) return [...label.map(text => `${text}:`), ...linesOf(value).map(line => `  ${line}`)]
    return [[...label, shown(value)].join(': ')]
  })
}

/** Rows under their columns; what is nested stands under the name of both, such as `webhook enabled`. */
function tableOf(rows: readonly Values[]): readonly string[] {
  const nested = new Set(rows.flatMap(row => Object.keys(row).filter(name => isRecord(row[name]))))
  const flat = rows.map((row): Values => Object.fromEntries(Object.entries(row).flatMap(flatten)))
  const names = [...new Set(flat.flatMap(row => Object.keys(row)))].filter(name => !nested.has(name))
  const cells = [
    names.map(name => name.replaceAll('_', ' ')),
    ...flat.map(row => names.map(name => shown(row[name]))),
  ]
  const widths = names.map((_, i) => Math.max(...cells.map(row => row[i]!.length)))
  return cells.map(row =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  )
}

const flatten = ([name, value]: readonly [string, unknown]): (readonly [string, unknown])[] =>
  isRecord(value) ? Object.entries(value).map(([inner, each]) => [`${name} ${inner}`, each]) : [[name, value]]

/** Control characters would act on the terminal. */
const shown = (value: unknown): string =>
  (Array.isArray(value)
    ? value.map(shown).join(', ') || 'none'
    : value === null || value === undefined
      ? '-'
      : String(value)
  ).replaceAll(/\p{C}/gu, ' ')

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
