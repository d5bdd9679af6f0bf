import { messageOf } from '#storage/error-code.ts'
import { type Finding, LEVEL_OF, type Need, ok, problem, runCheck, skipped } from '../doctor/check.ts'
import { certificates, ports, secrets, software } from '../doctor/check-machine.ts'
import { fleetRedis, signalsRedis } from '../doctor/check-redis.ts'
import { clock, readableStore, STORE_CHECKS } from '../doctor/check-stores.ts'
import { define, flag } from '../options/command.ts'
import { openStores } from '../options/store-option.ts'
import { ExitError, type Runtime } from '../runtime.ts'
import { readEnvironment, showSettings } from '../settings/environment.ts'
import { isReadByOthers } from '../settings/generated-secrets.ts'
import {
  mergeSettings,
  readSettingsFile,
  SETTINGS_NAME,
  type SettingsFile,
} from '../settings/settings-file.ts'

const CHECKS = [software, ...STORE_CHECKS, secrets, signalsRedis, fleetRedis, ports, certificates]

const HELP = `
It changes nothing: an object that it writes into a store is removed at once, except lock/probe in a bucket, which every
build needs. Secrets are shown as ***.

Exit codes:
  0  nothing is wrong
  1  a warning: it works, and will not for long
  2  a problem, or wrong usage

Examples:
  highwater doctor
  highwater doctor --read-only       # on a machine that only serves
  highwater doctor --json`

const OPTIONS = {
  readOnly: flag('write nothing into the stores, as on a machine that only serves'),
  json: flag('print the findings and the settings as one JSON document'),
}

export const defineDoctor = define(OPTIONS, HELP, async ({ readOnly = false, json }, runtime) => {
  const { findings, settings } = await look(runtime, readOnly)
  const worst = Math.max(...findings.map(({ state }) => LEVEL_OF[state]))
  runtime.terminal.result(json, { exit_code: worst, findings, settings }, [
    ...findings.flatMap(findingLines),
    ...(settings.length === 0 ? [] : ['\nSettings, with their source unless it is the default']),
    ...settings.map(settingLine),
  ])
  if (worst > 0) throw new ExitError(worst)
})

type Settings = ReturnType<typeof settingsOf>

async function look(given: Runtime, isReadOnly: boolean) {
  try {
    const file = await readSettingsFile(given)
    const runtime = { ...given, env: mergeSettings(given.env, file.values) }
    const environment = readEnvironment(runtime)
    const settings = settingsOf(given, showSettings(runtime, environment), file)
    const installation = { runtime, environment, ...(await openStores(environment)), isReadOnly }
    const findings = [await settingsFinding(file, settings)]
    const unmet = new Map<Need, string>()
    const reading = await runCheck(readableStore, installation)
    if (reading.state === 'problem') unmet.set('store', 'the public store cannot be read')
    for (const each of CHECKS) {
      const why = each.needs.flatMap(need => unmet.get(need) ?? [])[0]
      const skip = why === undefined ? null : { check: each.check, ...skipped(why) }
      const finding = skip ?? (await runCheck(each, installation))
      if (each === clock && finding.state === 'problem') unmet.set('clock', 'the clock is wrong')
      findings.push(finding)
    }
    return { findings, settings }
  } catch (error) {
    const fix = 'correct them, and run `highwater doctor` again: nothing else was looked at'
    return { findings: [{ check: 'settings', ...problem(messageOf(error), fix) }], settings: [] }
  }
}

const settingsOf = (
  { env: given }: Runtime,
  shown: ReturnType<typeof showSettings>,
  { path, values }: SettingsFile,
) =>
  shown.map(each => ({
    ...each,
    source: given[each.name] ? 'environment' : values[each.name] ? path! : 'default',
  }))

/** A file with secrets is nobody else's business. */
async function settingsFinding({ path }: SettingsFile, settings: Settings): Promise<Finding> {
  const count = (source: string) => settings.filter(each => each.source === source).length
  const set = `${count('environment')} from the environment`
  const check = 'settings'
  if (path === null) return { check, ...ok(`${set}, no ${SETTINGS_NAME}`) }
  const hasSecrets = settings.some(({ source, isSecret }) => source === path && isSecret)
  if (!hasSecrets || !(await isReadByOthers(path)))
    return { check, ...ok(`${set}, ${count(path)} from ${path}`) }
  const fix = `run \`chmod 600 ${path}\`, and replace its secrets if others may have read them`
  return { check, ...problem(`${path} has secrets, and other users can read it`, fix) }
}

const STATE_WIDTH = 8
const CHECK_WIDTH = 14
const INDENT = ' '.repeat(STATE_WIDTH + CHECK_WIDTH + 4)

function findingLines({ check, state, says, fix }: Finding): string[] {
  const word = state === 'ok' || state === 'skipped' ? state : state.toUpperCase()
  const begin = `${word.padEnd(STATE_WIDTH)}  ${check.padEnd(CHECK_WIDTH)}`
  const line = `${begin}  ${says.replaceAll('\n', `\n${INDENT}`)}`
  return fix === null ? [line] : [line, `${INDENT}-> ${fix}`]
}

const settingLine = ({ name, value, source }: Settings[number]): string =>
  `  ${name.padEnd(24)} ${value ?? '-'}${source === 'default' ? '' : `  (${source})`}`
