// What the commands below `highwater ops` have in common: one question, one answer, as a table or as JSON.
import type { Command } from 'commander'
import { dataFolder, parseEnvironment } from '../../environment.ts'
import { createOperatorClient } from '../../operator-client.ts'
import type { Runtime } from '../../runtime.ts'

export type Question = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
}

type Answered = Readonly<Record<string, unknown>>

/** A command that asks the operator's interface one thing. `lines` tells the answer to people. */
export function addQuestion(
  parent: Command,
  runtime: Runtime,
  usage: string,
  about: string,
  examples: readonly string[],
): {
  readonly command: Command
  readonly asks: (
    toQuestion: (...args: readonly string[]) => Question | Promise<Question>,
    lines?: (answer: Answered) => readonly string[],
  ) => void
} {
  const command = parent
    .command(usage)
    .description(about)
    .option('--json', 'print the answer as one JSON document')
    .addHelpText('after', exampleText(examples))
  return {
    command,
    asks: (toQuestion, lines = linesOf) =>
      void command.action(async () => {
        const { method = 'GET', path, body } = await toQuestion(...(command.processedArgs as string[])) // no argument is variadic
        const ask = await createOperatorClient(
          parseEnvironment(runtime.env, dataFolder(runtime.root, runtime.env)),
          dataFolder(runtime.root, runtime.env),
        )
        const answer = await ask(method, path, body)
        const isJson = command.opts<{ readonly json?: boolean }>().json ?? false
        const terminal = runtime.terminal
        if (isJson) terminal.json(answer)
        else for (const line of lines(isRecord(answer) ? answer : { '': answer })) terminal.print(line)
      }),
  }
}

/** What `--help` shows of how it is called; `lines` begin after `highwater ops`. */
export const exampleText = (lines: readonly string[]): string =>
  [`\n${lines.length === 1 ? 'Example' : 'Examples'}:`, ...lines.map(line => `  highwater ops ${line}`)].join(
    '\n',
  )

/** A part of a path that somebody typed. */
export const segment = (text: string | undefined): string => encodeURIComponent(text ?? '')

/** An answer as people read it: a line a field, a table for a list. */
export function linesOf(answer: Answered): readonly string[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    const label = name === '' ? [] : [name.replaceAll('_', ' ')]
    if (Array.isArray(value) && value.some(isRecord))
      return [...label.map(text => `${text}:`), ...tableOf(value.filter(isRecord))]
    if (isRecord(value)) return [...label.map(text => `${text}:`), ...linesOf(value).map(line => `  ${line}`)]
    return [[...label, shown(value)].join(': ')]
  })
}

/** Rows under their columns; what is nested stands under the name of both, such as `webhook enabled`. */
export function tableOf(rows: readonly Answered[]): readonly string[] {
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

const flatten = (row: Answered): ReadonlyMap<string, unknown> =>
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

const isRecord = (value: unknown): value is Answered =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
