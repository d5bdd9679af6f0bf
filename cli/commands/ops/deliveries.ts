import type { Command } from 'commander'
import type { Surroundings } from '../../surroundings.ts'
import { addQuestion, linesOf, segment } from './ask.ts'

const DELIVERY_OPTIONS = ['client', 'status', 'before', 'limit'] as const

/** `highwater ops status`, `deliveries`, `signal` and `replay`. */
export function addDeliveries(ops: Command, surroundings: Surroundings): void {
  addQuestion(ops, surroundings, 'status', 'how the whole service stands', ['status', 'status --json']).asks(
    () => ({
      path: '/ops/status',
    }),
  )
  const listing = addQuestion(ops, surroundings, 'deliveries', 'the newest deliveries', [
    'deliveries --client acme',
    'deliveries --status exhausted --json',
  ])
  listing.command
    .option('--client <id>', 'of one client')
    .option('--status <status>', 'owed, delivered, exhausted or withdrawn')
    .option('--before <seq>', 'only of signals before this number')
    .option('--limit <n>', 'how many at the most')
  listing.asks(() => {
    const options = listing.command.opts<Partial<Record<(typeof DELIVERY_OPTIONS)[number], string>>>()
    const query = new URLSearchParams()
    for (const name of DELIVERY_OPTIONS) if (options[name] !== undefined) query.set(name, options[name])
    return { path: `/ops/deliveries?${query}` }
  })
  addQuestion(
    ops,
    surroundings,
    'signal <seq> [client]',
    'a signal and its deliveries, or the attempts of one of them',
    ['signal 42', 'signal 42 acme'],
  ).asks((seq, client) => ({
    path: `/ops/signals/${segment(seq)}${client === undefined ? '' : `/${segment(client)}`}`,
  }))
  const replaying = addQuestion(
    ops,
    surroundings,
    'replay <client>',
    'send a client every signal from a number on again',
    ['replay acme --from 42'],
  )
  replaying.command.requiredOption('--from <seq>', 'number of the first one')
  replaying.asks(
    client => ({
      method: 'POST',
      path: `/ops/clients/${segment(client)}/replay?from=${segment(replaying.command.opts<{ from: string }>().from)}`,
    }),
    answer => (answer.owed_again === 0 ? [nothingToReplay(answer)] : linesOf(answer)),
  )
}

const nothingToReplay = ({ client, from }: Readonly<Record<string, unknown>>): string =>
  `nothing is sent again: from number ${from} on there is no signal that ${client} may see; ` +
  '`highwater ops status` tells the newest number'
