import type { Command } from 'commander'
import type { Runtime } from '../../runtime.ts'
import { addQuestion, linesOf, segment } from './ask.ts'

const DELIVERY_OPTIONS = ['client', 'status', 'before', 'limit'] as const

const ACCOUNT_OPTIONS = ['from', 'to'] as const

/** `highwater ops status`, `deliveries`, `signal`, `account` and `replay`. */
export function addDeliveries(ops: Command, runtime: Runtime): void {
  addQuestion(ops, runtime, 'status', 'how the whole service stands', ['status', 'status --json']).asks(
    () => ({
      path: '/ops/status',
    }),
  )
  const listing = addQuestion(ops, runtime, 'deliveries', 'the newest deliveries', [
    'deliveries --client acme',
    'deliveries --status exhausted --json',
  ])
  listing.command
    .option('--client <id>', 'of one client')
    .option('--status <status>', 'owed, delivered, exhausted or withdrawn')
    .option('--before <seq>', 'only of signals before this number')
    .option('--limit <n>', 'how many at the most')
  listing.asks(() => ({ path: `/ops/deliveries?${queryOf(listing.command, DELIVERY_OPTIONS)}` }))
  addQuestion(
    ops,
    runtime,
    'signal <seq> [client]',
    'a signal and its deliveries, or the attempts of one of them',
    ['signal 42', 'signal 42 acme'],
  ).asks((seq, client) => ({
    path: `/ops/signals/${segment(seq)}${client === undefined ? '' : `/${segment(client)}`}`,
  }))
  const accounting = addQuestion(
    ops,
    runtime,
    'account <client>',
    'what became of every signal of a client, with a digest that it can compute too',
    ['account acme', 'account acme --from 42 --to 99 --json'],
  )
  accounting.command
    .option('--from <seq>', 'number of the first one')
    .option('--to <seq>', 'number of the last one')
  accounting.asks(
    client => ({
      path: `/ops/clients/${segment(client)}/account?${queryOf(accounting.command, ACCOUNT_OPTIONS)}`,
    }),
    answer =>
      linesOf(
        Object.fromEntries(
          Object.entries(answer).map(([name, value]) => [
            name,
            Array.isArray(value) ? countOf(value) : value,
          ]),
        ),
      ),
  )
  const replaying = addQuestion(
    ops,
    runtime,
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

/** Those options of a command that were given and that the service knows. */
function queryOf(command: Command, names: readonly string[]): URLSearchParams {
  const options = command.opts<Readonly<Record<string, string | undefined>>>()
  const query = new URLSearchParams()
  for (const name of names) if (options[name] !== undefined) query.set(name, options[name])
  return query
}

/** How many signals, and which: a number of one alone would be read as how many. */
const countOf = (seqs: readonly unknown[]): string =>
  seqs.length === 0 ? '0' : `${seqs.length} (${seqs.map(seq => `#${seq}`).join(', ')})`

const nothingToReplay = ({ client, from }: Readonly<Record<string, unknown>>): string =>
  `nothing is sent again: from number ${from} on there is no signal that ${client} may see; ` +
  '`highwater ops status` tells the newest number'
