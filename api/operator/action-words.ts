// What an action of an operator was about, in words: for the page and the command line. The JSON has the exact state.
import type { LoggedAction } from '#signals/operators/audit-log.ts'

/** `account: active → suspended`, for each field that differs; what was asked for if none does. */
export function actionWords({ before, after, request, subject }: LoggedAction): string {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  const changed = names.filter(name => text(old[name]) !== text(now[name]))
  if (changed.length === 0) return pairs(Object.entries(request).filter(([, value]) => value !== subject)) // it stands beside
  return changed
    .map(name =>
      before === null ? `${name}: ${text(now[name])}` : `${name}: ${text(old[name])} → ${text(now[name])}`,
    )
    .join('; ')
}

type Fields = Readonly<Record<string, unknown>>

/** The fields as the page names them: an account that is suspended is pending for its client alone. */
function fieldsOf(state: LoggedAction['after']): Fields {
  const { status, suspended, aliases, webhook, ...others } = state ?? {}
  return {
    ...(status === undefined ? {} : { account: suspended === true ? 'suspended' : status }),
    ...(aliases === undefined ? {} : { strategies: aliases }),
    ...others,
    // How many deliveries wait changes by itself, and would hide what was asked for.
    ...(webhook == null ? {} : { webhook: webhook.enabled ? 'enabled' : 'disabled' }),
  }
}

const pairs = (fields: readonly (readonly [name: string, value: string])[]): string =>
  fields.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`).join('; ')

function text(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === undefined ? 'none' : String(value)
}
