// The commands of the operator's route table: variables of a path are arguments, fields of a query or a body
// are options, the title is the help and the example of the route the example of the help.
import { type Command, Option } from 'commander'
import type { z } from 'zod'
import type { OperatorRoute } from '#api/operator/operator-route.ts'
import { fieldsOf } from '#api/operator/route-fields.ts'
import { type Query, variablesOf } from '#core/contract/route.ts'
import { ExitError } from '../../exit.ts'
import { createOperatorClient, type OperatorClient } from '../../operator-client.ts'
import type { Runtime } from '../../runtime.ts'
import { readEnvironment } from '../../settings/environment.ts'

type Values = Readonly<Record<string, unknown>>

/** What a command has beyond its route. */
export type Addition = {
  readonly options?: (command: Command) => void
  /** Fields of the body that are no options, and how the command makes them of its arguments and its own options. */
  readonly hidden?: readonly string[]
  readonly body?: (values: Values, runtime: Runtime) => unknown
  readonly argument?: (text: string) => string
  /** What follows the request: returns the answer that is printed. */
  readonly follow?: (
    answer: Values,
    given: Values,
    client: OperatorClient,
    runtime: Runtime,
  ) => Promise<Values>
  /** The exit code that an answer means; 0 if it is not given. */
  readonly exitCode?: (answer: Values) => number
  /** The answer as people read it. */
  readonly lines?: (answer: Values) => readonly string[]
  /** What follows `highwater ops` in the example, if the route has none that can be typed. */
  readonly example?: string
  readonly help?: string
}

/** Adds the commands of the routes; `about` has the help of each group, such as `clients`. */
export function addRouteCommands(
  ops: Command,
  runtime: Runtime,
  routes: readonly OperatorRoute[],
  about: Readonly<Record<string, string>>,
  additions: Readonly<Record<string, Addition>>,
): void {
  const groups = new Map<string, Command>()
  for (const [name, same] of Map.groupBy(routes, nameOf)) {
    const [first = '', last] = name.split(' ')
    const group = last === undefined ? ops : (groups.get(first) ?? ops.command(first))
    if (last !== undefined && !groups.has(first)) {
      groups.set(first, group)
      const examples = routes.filter(route => nameOf(route).startsWith(`${first} `)).slice(0, 2)
      group
        .description(about[first] ?? first)
        .addHelpText('after', exampleText(examples.map(route => exampleOf(route, additions[route.id]))))
    }
    addCommand(group.command(last ?? first), same, additions, runtime)
  }
}

const nameOf = ({ command }: OperatorRoute): string => command.usage.replaceAll(/ ?[<[][^>\]]+[>\]]/g, '')

/** The arguments of a command, such as `<client>` and `[alias]`. */
const argumentsOf = ({ command }: OperatorRoute): readonly string[] =>
  command.usage.match(/[<[][^>\]]+[>\]]/g) ?? []

/** One command for one route, or for several of which the number of arguments selects one. */
function addCommand(
  command: Command,
  routes: readonly OperatorRoute[],
  additions: Readonly<Record<string, Addition>>,
  runtime: Runtime,
): void {
  const sorted = routes.toSorted((a, b) => argumentsOf(a).length - argumentsOf(b).length)
  const least = argumentsOf(sorted[0]!).length
  const [widest] = sorted.slice(-1)
  const names = argumentsOf(widest!).map((name, i) => (i < least ? name : `[${name.slice(1, -1)}]`))
  for (const name of names) command.argument(name)
  for (const route of sorted)
    for (const field of optionsOf(route, additions[route.id])) addOption(command, field)
  for (const route of sorted) additions[route.id]?.options?.(command)
  command
    .description(sorted.map(({ title }) => title.charAt(0).toLowerCase() + title.slice(1)).join('; or: '))
    .option('--json', 'print the answer as one JSON document')
    .addHelpText('after', additions[sorted[0]!.id]?.help ?? '')
    .addHelpText('after', exampleText(sorted.map(route => exampleOf(route, additions[route.id]))))
    .action(async () => {
      const given = (command.processedArgs as (string | undefined)[]).filter(text => text !== undefined) // no argument is variadic
      const route = sorted.findLast(each => argumentsOf(each).length <= given.length) ?? sorted[0]!
      const addition = additions[route.id] ?? {}
      const answer = await ask(route, addition, given, command, runtime)
      const { terminal } = runtime
      const record = isRecord(answer) ? answer : { '': answer }
      const lines = addition.lines ?? linesOf
      if (command.opts<{ readonly json?: boolean }>().json) terminal.json(answer)
      else for (const line of lines(record)) terminal.print(line)
      const code = addition.exitCode?.(record) ?? 0
      if (code !== 0) throw new ExitError(code)
    })
}

async function ask(
  route: OperatorRoute,
  addition: Addition,
  given: readonly string[],
  command: Command,
  runtime: Runtime,
): Promise<unknown> {
  const typed = argumentsOf(route).flatMap((name, i) => {
    const text = given[i]
    return text === undefined ? [] : [[name.slice(1, -1), addition.argument?.(text) ?? text] as const]
  })
  const fields = optionsOf(route, addition).flatMap(({ name, key, isInQuery }) =>
    command.getOptionValueSource(key) === 'cli'
      ? [{ name, isInQuery, value: command.opts<Values>()[key] }]
      : [],
  )
  const values: Values = { ...command.opts<Values>(), ...Object.fromEntries(typed) }
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[name])),
  )
  const query = new URLSearchParams(
    fields.flatMap(({ name, isInQuery, value }): [string, string][] =>
      isInQuery ? [[name, String(value)]] : [],
    ),
  )
  const body = {
    ...Object.fromEntries(typed.filter(([name]) => !variablesOf(route.path).includes(name))),
    ...Object.fromEntries(fields.flatMap(({ name, isInQuery, value }) => (isInQuery ? [] : [[name, value]]))),
  }
  const client = await createOperatorClient(readEnvironment(runtime))
  const answer = await client(
    route.method,
    query.size === 0 ? path : `${path}?${query}`,
    route.body === undefined ? undefined : await (addition.body?.({ ...values, ...body }, runtime) ?? body),
  )
  if (addition.follow === undefined || !isRecord(answer)) return answer
  return addition.follow(answer, values, client, runtime)
}

/** A field of a query or of a body as an option, such as `overlap-hours`; commander has it under `key`. */
type Field = ReturnType<typeof toOptions>[number]

function optionsOf(route: OperatorRoute, { hidden = [] }: Addition = {}): readonly Field[] {
  const typed = argumentsOf(route).map(name => name.slice(1, -1))
  return [...toOptions(route, route.query, true), ...toOptions(route, route.body, false)].filter(
    ({ name }) => !typed.includes(name) && !hidden.includes(name),
  )
}

const toOptions = ({ command }: OperatorRoute, of: Query | z.ZodType | undefined, isInQuery: boolean) =>
  fieldsOf(of).map(({ name, type, description: about, initial, isRequired }) => {
    const option = command.options?.[name] ?? name.replaceAll('_', '-')
    return {
      ...{ name, option, type, isInQuery, about, isRequired },
      key: option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
      hasDefault: initial !== undefined,
    }
  })

function addOption(
  command: Command,
  { option, about, type, isInQuery, isRequired, hasDefault }: Field,
): void {
  if (type === 'boolean') {
    command.option(`--${option}`, about.replace(/^true or false: /, ''))
    if (!hasDefault) command.option(`--no-${option}`, `the opposite of --${option}`)
    return
  }
  const flags = `--${option} <${type === 'array' ? 'list' : type === 'string' ? 'text' : 'number'}>`
  const added = new Option(flags, type === 'array' ? `${about}, separated by commas` : about)
  if (type === 'array') added.argParser(toList)
  else if (type !== 'string' && !isInQuery) added.argParser(Number)
  command.addOption(added.makeOptionMandatory(isRequired))
}

const toList = (text: string): readonly string[] => text.split(',').filter(part => part !== '')

/** `clients entitle new-client --add birch`: the example of a route as it is typed. */
function exampleOf(route: OperatorRoute, addition: Addition = {}): string {
  if (addition.example !== undefined) return addition.example
  const { path = route.path, body = {} } = route.example ?? {}
  const [plain = '', search = ''] = path.split('?')
  const parts = plain.split('/')
  const ofPath = route.path
    .split('/')
    .flatMap((part, i) => (part.startsWith('{') ? [[part.slice(1, -1), parts[i]] as const] : []))
  const values: Values = {
    ...Object.fromEntries(ofPath),
    ...Object.fromEntries(new URLSearchParams(search)),
    ...body,
  }
  const typed = argumentsOf(route).map(name => String(values[name.slice(1, -1)] ?? ''))
  const options = optionsOf(route, addition).flatMap(({ name, option }) => {
    const value = values[name]
    if (value === undefined || value === false) return []
    return value === true ? [`--${option}`] : [`--${option}`, quoted(String(value))]
  })
  return [nameOf(route), ...typed, ...options].filter(word => word !== '').join(' ')
}

const quoted = (text: string): string => (text.includes(' ') ? `"${text}"` : text)

/** What `--help` shows of how it is called; `lines` begin after `highwater ops`. */
const exampleText = (lines: readonly string[]): string =>
  [`\n${lines.length === 1 ? 'Example' : 'Examples'}:`, ...lines.map(line => `  highwater ops ${line}`)].join(
    '\n',
  )

/** An answer as people read it: a line a field, a table for a list. */
export function linesOf(answer: Values): readonly string[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    const label = name === '' ? [] : [name.replaceAll('_', ' ')]
    if (Array.isArray(value) && value.some(isRecord))
      return [...label.map(text => `${text}:`), ...tableOf(value.filter(isRecord))]
    if (isRecord(value)) return [...label.map(text => `${text}:`), ...linesOf(value).map(line => `  ${line}`)]
    return [[...label, shown(value)].join(': ')]
  })
}

/** Rows under their columns; what is nested stands under the name of both, such as `webhook enabled`. */
function tableOf(rows: readonly Values[]): readonly string[] {
  const flat = rows.map(row => flatten(row))
  const nested = new Set(rows.flatMap(row => Object.keys(row).filter(name => isRecord(row[name]))))
  const names = [...new Set(flat.flatMap(row => [...row.keys()]))].filter(name => !nested.has(name))
  const cells = [
    names.map(name => name.replaceAll('_', ' ')),
    ...flat.map(row => names.map(name => shown(row.get(name)))),
  ]
  const widths = names.map((_, i) => Math.max(...cells.map(row => row[i]!.length)))
  return cells.map(row =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  )
}

const flatten = (row: Values): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(row).flatMap(([name, value]): [string, unknown][] =>
      isRecord(value)
        ? Object.entries(value).map(([inner, each]) => [`${name} ${inner}`, each])
        : [[name, value]],
    ),
  )

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
