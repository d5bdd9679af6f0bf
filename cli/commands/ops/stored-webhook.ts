// Where a client's signals go, as the service itself has it: read from Redis and opened with SECRET_KEY.
import { join } from 'node:path'
import { createSecretBox, parseKeyRing } from '#signals/delivery/secret-box.ts'
import { liveSecrets } from '#signals/delivery/sign.ts'
import { readWebhook } from '#signals/delivery/webhooks.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { dataFolder, type Environment, parseEnvironment } from '../../environment.ts'
import { readSecretFile, SECRET_KEY_FILE } from '../../generated-secrets.ts'
import type { Runtime } from '../../runtime.ts'
import { reachRedis, redisUrlOf } from '../../signals/redis-url.ts'

export type StoredWebhook = {
  readonly url: string
  /** Those that sign now, newest first. */
  readonly secrets: readonly string[]
  /** Whether the operator lets webhooks lie on this machine. */
  readonly allowsLoopback: boolean
}

/** The webhook of a client, enabled or not. Throws a sentence where there is none, or Redis or the key is away. */
export async function readStoredWebhook(runtime: Runtime, client: string): Promise<StoredWebhook> {
  const { env, root, now, drawBytes } = runtime
  const environment = parseEnvironment(env, dataFolder(root, env))
  const box = createSecretBox(parseKeyRing(await secretKeyOf(environment, dataFolder(root, env))), drawBytes)
  const redis = connectRedis(await redisUrlOf(environment, dataFolder(root, env)), () => {}) // the command tells its own error
  try {
    await reachRedis(redis)
    const webhook = await readWebhook(redis, box, client)
    if (webhook === null) {
      throw new Error(
        `the client '${client}' has no webhook: \`highwater ops webhook set ${client} URL\` sets one`,
      )
    }
    const allowsLoopback = environment.signals.allowsPrivateWebhooks
    return { url: webhook.url, secrets: liveSecrets(webhook.secrets, now()), allowsLoopback }
  } finally {
    redis.disconnect()
  }
}

const secretKeyOf = async ({ signals }: Environment, folder: string): Promise<string> =>
  signals.secretKey ?? readSecretFile(join(folder, SECRET_KEY_FILE))
