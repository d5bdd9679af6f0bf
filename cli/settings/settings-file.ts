// The optional settings file: the variables of the environment, in YAML.
import { access, constants, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { nearestTo } from '#core/contract/near-miss.ts'
import { ifThere, messageOf } from '#storage/error-code.ts'
import type { Runtime } from '../runtime.ts'
import { problemWith, UsageError, VARIABLE_NAMES } from './environment.ts'

/** Names another settings file than `highwater.yaml` in the working folder. */
export const SETTINGS_VARIABLE = 'HIGHWATER_SETTINGS'

export const SETTINGS_NAME = 'highwater.yaml'

/** The settings in a file, as texts by the name of their variable. `path` is null without a file. */
export type SettingsFile = {
  readonly path: string | null
  readonly values: Readonly<Record<string, string>>
}

/**
 * Reads the settings file: the one that HIGHWATER_SETTINGS names, or `highwater.yaml` in the working folder if there is
 * one. Throws a UsageError with everything that is wrong with it.
 */
export async function readSettingsFile({ env, cwd }: Pick<Runtime, 'env' | 'cwd'>): Promise<SettingsFile> {
  const named = env[SETTINGS_VARIABLE] || null
  const path = resolve(cwd, named ?? join(cwd, SETTINGS_NAME))
  const text = await ifThere(readFile(path, 'utf8'), null).catch(async (error: unknown) => {
    if (named === null && !(await isOpen(cwd))) return null
    throw new UsageError(`cannot read the settings file ${path}: ${messageOf(error)}`)
  })
  if (text !== null) return { path, values: parseSettings(text, path) }
  if (named === null) return { path: null, values: {} }
  throw new UsageError(
    `${SETTINGS_VARIABLE} names ${path}, and there is no such file: create it, or unset the variable`,
  )
}

/** Whether this user may read files of a folder: a service that is started from root's own folder may not. */
const isOpen = (folder: string): Promise<boolean> =>
  access(folder, constants.X_OK).then(
    () => true,
    () => false,
  )

/** The runtime with the settings of the file; a variable that is set wins. Throws as `readSettingsFile` does. */
export async function withSettingsFile(runtime: Runtime): Promise<Runtime> {
  const { values } = await readSettingsFile(runtime)
  return { ...runtime, env: mergeSettings(runtime.env, values) }
}

/** An empty variable counts as unset. */
export const mergeSettings = (env: NodeJS.ProcessEnv, values: SettingsFile['values']): NodeJS.ProcessEnv => ({
  ...values,
  ...Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== '' || !(name in values))),
})

function parseSettings(text: string, path: string): Record<string, string> {
  const document = parseDocument(text, { schema: 'failsafe' }) // a secret of digits is no number
  const [error] = document.errors
  if (error !== undefined) throw new UsageError(`${path} is not valid YAML: ${firstLine(error.message)}`)
  const value: unknown = document.toJS()
  if (value === null || value === undefined) return {} // only comments
  if (typeof value !== 'object' || Array.isArray(value))
    throw new UsageError(`${path}: expected a line NAME: value for each setting, such as HISTORY_PORT: 8080`)
  const settings = Object.entries(value).map(([name, given]) => [name, toText(given)] as const)
  const problems = settings.flatMap(([name, given]) => problemOf(name, given))
  if (problems.length > 0) throw new UsageError([`invalid settings in ${path}:`, ...problems].join('\n'))
  return Object.fromEntries(settings.map(([name, given]) => [name, given ?? '']))
}

function problemOf(name: string, given: string | null): string[] {
  if (!VARIABLE_NAMES.includes(name)) {
    const nearest = nearestTo(name.toUpperCase(), VARIABLE_NAMES)
    return [`  ${name}: there is no such setting${nearest === null ? '' : `; did you mean ${nearest}?`}`]
  }
  if (given === null) return [`  ${name}: expected a text, a number, true, false, or a list of these`]
  const wrong = problemWith(name, given)
  return wrong === null ? [] : [wrong]
}

/** As the variable has it: lists are separated by commas, true is yes. Null if it is none of these. */
function toText(value: unknown): string | null {
  if (value === null) return ''
  if (value === 'true') return 'yes'
  if (value === 'false') return 'no'
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return null
  const parts = value.map(toText)
  return parts.includes(null) ? null : parts.join(',')
}

const firstLine = (text: string): string => text.split('\n')[0]!.replace(/:$/, '')
