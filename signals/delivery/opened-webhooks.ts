import type { SecretBox } from './secret-box.ts'
import { toWebhook, type Webhook } from './webhooks.ts'

/** What was opened, by the box and by the very record: forgotten as soon as nobody holds one of them. */
const opened = new WeakMap<SecretBox, WeakMap<object, Webhook>>()

/**
 * As `toWebhook`, remembered: a webhook is sealed once and opened for every delivery. Given the same record again, its
 * fields must be unchanged.
 */
export function openWebhook(
  box: SecretBox,
  client: string,
  fields: Readonly<Record<string, string>>,
): Webhook | null {
  const ofBox = opened.get(box) ?? new WeakMap<object, Webhook>()
  opened.set(box, ofBox)
  const known = ofBox.get(fields)
  if (known !== undefined && known.client === client) return known
  const webhook = toWebhook(box, client, fields)
  if (webhook !== null) ofBox.set(fields, webhook)
  return webhook
}
