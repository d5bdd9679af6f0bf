import type { Command } from 'commander'
import type { Runtime } from '../../runtime.ts'
import { addQuestion, exampleText } from './ask.ts'

/** `highwater ops live`: what the live strategies may do. */
export function addOpsLive(ops: Command, runtime: Runtime): void {
  const live = ops
    .command('live')
    .description('what the live strategies may do')
    .addHelpText('after', exampleText(['live status', 'live halt alder']))
  const add = (usage: string, about: string, ...examples: string[]) =>
    addQuestion(
      live,
      runtime,
      usage,
      about,
      examples.map(line => `live ${line}`),
    )
  add('status', 'how they stand', 'status').asks(() => ({ path: '/ops/live' }))
  for (const [verb, about] of [
    ['halt', 'no entry goes out, a flat still does; of one strategy, or of all'],
    ['resume', 'end a halt'],
  ] as const) {
    add(`${verb} [alias]`, about, verb, `${verb} alder`).asks(alias => ({
      method: 'POST',
      path: `/ops/live/${verb}`,
      body: { alias },
    }))
  }
  const going = add(
    'go-live <alias>',
    'its next entries are LIVE, where its catalogue says so too',
    'go-live alder',
    'go-live alder --dry-run',
  )
  going.command.option('--dry-run', 'the other way: its next entries are DRY_RUN')
  going.asks(alias => ({
    method: 'POST',
    path: '/ops/live/mode',
    body: { alias, mode: going.command.opts<{ dryRun?: boolean }>().dryRun ? 'DRY_RUN' : 'LIVE' },
  }))
}
