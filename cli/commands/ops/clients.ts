import type { Command } from 'commander'
import { keyIdOf } from '#signals/clients/token.ts'
import type { Runtime } from '../../runtime.ts'
import { addQuestion, exampleText, segment } from './ask.ts'

const list = (text: string): string[] => text.split(',').filter(part => part !== '')

type AddOptions = {
  readonly tier: string
  readonly aliases?: string[]
  readonly activate?: boolean
}

type EntitleOptions = {
  readonly set?: string[]
  readonly add?: string[]
  readonly remove?: string[]
  readonly program?: boolean
}

/** `highwater ops clients`: who subscribes, and to what. */
export function addClients(ops: Command, runtime: Runtime): void {
  const clients = ops
    .command('clients')
    .description('who subscribes, and to what')
    .addHelpText('after', exampleText(['clients list', 'clients add acme --aliases alder,birch --activate']))
  const add = (usage: string, about: string, ...examples: string[]) =>
    addQuestion(
      clients,
      runtime,
      usage,
      about,
      examples.map(line => `clients ${line}`),
    )
  add('list', 'list all clients', 'list', 'list --json').asks(() => ({ path: '/ops/clients' }))
  add(
    'show <client>',
    'a client with its keys, its webhook, its latency and its last deliveries',
    'show acme',
  ).asks(client => ({
    path: `/ops/clients/${segment(client)}`,
  }))
  const adding = add(
    'add <client>',
    'add a client, which waits for its activation unless it is told otherwise',
    'add acme --tier pro',
    'add acme --aliases alder,birch --activate',
  )
  adding.command
    .option('--tier <tier>', 'your own word for what was sold', 'standard')
    .option('--aliases <aliases>', 'the strategies that it may see, separated by commas', list)
    .option('--activate', 'switch the account on at once')
  adding.asks(id => ({
    method: 'POST',
    path: '/ops/clients',
    body: { id, ...adding.command.opts<AddOptions>() },
  }))
  for (const [verb, about] of [
    ['activate', 'switch an account on'],
    ['suspend', 'switch an account off: its pulls and deliveries stop, its keys stay valid'],
  ] as const) {
    add(`${verb} <client>`, about, `${verb} acme`).asks(client => ({
      method: 'POST',
      path: `/ops/clients/${segment(client)}/${verb}`,
    }))
  }
  const entitling = add(
    'entitle <client>',
    'change what a client may see',
    'entitle acme --add alder,birch',
    'entitle acme --set alder --program',
  )
  entitling.command
    .option('--set <aliases>', 'the whole list anew, separated by commas', list)
    .option('--add <aliases>', 'aliases to add', list)
    .option('--remove <aliases>', 'aliases to take away', list)
    .option('--program', 'also the accumulation program')
    .option('--no-program', 'not the accumulation program')
  entitling.asks(client => {
    const { set, add: more, remove, program } = entitling.command.opts<EntitleOptions>()
    // commander gives an option with a --no- form the value true where neither was typed
    const isSaid = entitling.command.getOptionValueSource('program') === 'cli'
    const body = { aliases: set, add: more, remove, ...(isSaid ? { program } : {}) }
    return { method: 'POST', path: `/ops/clients/${segment(client)}/entitlements`, body }
  })
}

/** `highwater ops keys`: the API keys of a client. */
export function addClientKeys(ops: Command, runtime: Runtime): void {
  const keys = ops
    .command('keys')
    .description('the API keys of a client: two at the most')
    .addHelpText('after', exampleText(['keys issue acme', 'keys list acme']))
  const add = (usage: string, about: string, example: string) =>
    addQuestion(keys, runtime, usage, about, [`keys ${example}`])
  add('list <client>', 'list the live keys of a client', 'list acme').asks(client => ({
    path: `/ops/clients/${segment(client)}/keys`,
  }))
  add('issue <client>', 'make a key; it is printed once and never again', 'issue acme').asks(
    client => ({ method: 'POST', path: `/ops/clients/${segment(client)}/keys` }),
    ({ id, token }) => [`key ${id}, shown this once:`, String(token)],
  )
  add('confirm <key>', 'confirm the newer key of a client: the older one dies', 'confirm 0aZ3kQ9b').asks(
    key => ({
      method: 'POST',
      path: `/ops/keys/${keySegment(key)}/confirm`,
    }),
  )
  add('revoke <key>', 'end a key at once', 'revoke 0aZ3kQ9b').asks(key => ({
    method: 'POST',
    path: `/ops/keys/${keySegment(key)}/revoke`,
  }))
}

/** Of a key that was given whole, its id alone is sent: what is in an address is seen by others. */
const keySegment = (key: string | undefined): string => segment(keyIdOf(key ?? '') ?? key)
