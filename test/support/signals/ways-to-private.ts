import { toCompactInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'

/** Ways to spell the path of a private file, for a tier or a server that resolves too much. */
export function waysTo(version: string, inside: string): string[] {
  const [key, folder] = [privateKey(version, inside), toCompactInstant(version)]
  return [
    `/${key}`,
    `/v1/${key}`,
    `/v1/${inside}`,
    `/v1/snapshots/${key}`,
    `/v1/snapshots/${key}.br`,
    `/v1/snapshots/${folder}/../../../private/${key}`,
    `/v1/snapshots/${folder}/%2e%2e/%2e%2e/%2e%2e/private/${key}`,
    `/v1/snapshots/${folder}%2f${inside.replaceAll('/', '%2f')}`,
    `/v1/snapshots/${folder}/strategies/../${inside}`,
    `/v1/snapshots//${key}`,
    `/v1/pin/${version}/${inside}`,
    `/v1/program/${inside.replace('program/', '').replace('.json', '')}`,
    `/private/${key}`,
    `/.published/v1/snapshots/${key}`,
  ]
}
