// The optional settings file: the variables of the environment, in YAML.
import { access, constants, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { nearestTo } from '#core/contract/near-miss.ts'
import { ifThere, messageOf } from '#storage/error-code.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { problemWith, VARIABLE_NAMES } from './environment.ts'

/** Names another settings file than `highwater.yaml` in the working folder. */
export const SETTINGS_VARIABLE = 'HIGHWATER_SETTINGS'

export const SETTINGS_NAME = 'highwater.yaml'

/** `path` is null without a file. */
export type SettingsFile = {
  readonly path: string | null
  readonly values: Readonly<Record<string, string>>
}

/** Reads the file that HIGHWATER_SETTINGS names, or `highwater.yaml` in the working folder. Throws a UsageError with all its faults. */
export async function readSettingsFile({ env, cwd }: Pick<Runtime, 'env' | 'cwd'>): Promise<SettingsFile> {
  const named = env[SETTINGS_VARIABLE] || null
  const path = resolve(cwd, named ?? SETTINGS_NAME)
  const text = await ifThere(readFile(path, 'utf8'), null).catch(async (error: unknown) => {
    // A service that is started from root's own folder may read nothing there.
    const isClosed = await access(cwd, constants.X_OK).then(
      () => false,
      () => true,
    )
    if (named === null && isClosed) return null
    throw new UsageError(`cannot read the settings file ${path}: ${messageOf(error)}`)
  })
  if (text !== null) return { path, values: await parseSettings(text, path) }
  if (named === null) return { path: null, values: {} }
  throw new UsageError(
    `${SETTINGS_VARIABLE} names ${path}, and there is no such file: create it, or unset the variable`,
  )
}

/** The environment with the settings of a file. A variable that is set wins; an empty one counts as unset. */
export const mergeSettings = (env: NodeJS.ProcessEnv, values: SettingsFile['values']): NodeJS.ProcessEnv => ({
  ...values,
  ...Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== '' || !(name in values))),
})

async function parseSettings(text: string, path: string): Promise<Record<string, string>> {
  const { parseDocument } = await import('yaml') // most installations have no such file
  const document = parseDocument(text, { schema: 'failsafe' }) // a secret of digits is no number
  const [error] = document.errors
  if (error !== undefined) {
    const [line = ''] = error.message.split('\n')
    throw new UsageError(`${path} is not valid YAML: ${line.replace(/:$/, '')}`)
  }
  const value: unknown = document.toJS() ?? {} // only comments
  if (typeof value !== 'object' || Array.isArray(value))
    throw new UsageError(`${path}: expected a line NAME: value for each setting, such as HISTORY_PORT: 8080`)
  const given = Object.entries(value as object).map(([name, each]) => [name, toText(each)] as const)
  const problems = given.flatMap(([name, each]) => problemOf(name, each) ?? [])
  if (problems.length > 0) throw new UsageError([`invalid settings in ${path}:`, ...problems].join('\n'))
  return Object.fromEntries(given.map(([name, each]) => [name, each ?? '']))
}

function problemOf(name: string, given: string | null): string | null {
  if (!VARIABLE_NAMES.includes(name)) {
    const nearest = nearestTo(name.toUpperCase(), VARIABLE_NAMES)
    return `  ${name}: there is no such setting${nearest === null ? '' : `; did you mean ${nearest}?`}`
  }
  if (given === null) return `  ${name}: expected a text, a number, true, false, or a list of these`
  return problemWith(name, given)
}

/** As the variable has it: lists are separated by commas, true is yes. Null if it is none of these. */
function toText(value: unknown): string | null {
  if (value === null) return ''
  if (value === 'true') return 'yes'
  if (value === 'false') return 'no'
  if (typeof value === 'string') return value
  const parts = Array.isArray(value) ? value.map(toText) : [null]
  return parts.includes(null) ? null : parts.join(',')
}
