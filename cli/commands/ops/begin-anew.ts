import { type Command, InvalidArgumentError } from 'commander'
import { aboveHighWater, readHighWater } from '#signals/delivery/high-water.ts'
import { beginAnew } from '#signals/log/guard.ts'
import { assertDurable } from '#signals/redis/boot-checks.ts'
import { openStore } from '#storage/open-store.ts'
import type { Runtime } from '../../runtime.ts'
import { newEpochOf, withRedis } from './backup.ts'

type Options = { readonly above?: number; readonly json?: boolean }

/** `highwater ops begin-anew`: what an operator orders where Redis was lost and there is no backup. */
export function addBeginAnew(ops: Command, runtime: Runtime): void {
  ops
    .command('begin-anew')
    .description(
      'number signals on under a new epoch where the log is lost and no backup is there; stop the service first',
    )
    .option('--above <seq>', 'the highest number that may have been given, as the service told it', toSeq)
    .option('--json', 'print where the log stands as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater ops begin-anew --above 2004')
    .action((options: Options) =>
      withRedis(runtime, async (redis, environment) => {
        if (!environment.allowsUnsafeRedis) await assertDurable(redis)
        const privateStore = await openStore(environment.privateStoreUrl, environment.s3)
        const above = Math.max(options.above ?? 0, aboveHighWater(await readHighWater(privateStore)))
        const head = await beginAnew(redis, above, newEpochOf(runtime))
        const { print, json } = runtime.terminal
        if (options.json) return json(head)
        print(
          `the next signal is ${head.seq + 1}, in the new epoch ${head.epoch}: clients that see it pull again`,
        )
        print('clients, keys and webhooks are those that Redis holds: `highwater ops clients list`')
      }),
    )
}

function toSeq(text: string): number {
  const seq = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq)) return seq
  throw new InvalidArgumentError('expected the number of a signal, such as 2004')
}
