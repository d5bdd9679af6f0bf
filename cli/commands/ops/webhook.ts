import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Runtime } from '../../runtime.ts'
import { addQuestion, exampleText, linesOf, segment } from './ask.ts'

/** `highwater ops webhook`: where the signals of a client go. */
export function addWebhook(ops: Command, runtime: Runtime): void {
  const webhook = ops
    .command('webhook')
    .description('where the signals of a client go')
    .addHelpText('after', exampleText(['webhook show acme', 'webhook set acme https://hooks.example.org/in']))
  const add = (usage: string, about: string, example: string) =>
    addQuestion(webhook, runtime, usage, about, [`webhook ${example}`])
  const pathOf = (client: string | undefined, verb = '') => `/ops/clients/${segment(client)}/webhook${verb}`
  add('show <client>', 'where it is and how it stands', 'show acme').asks(client => ({
    path: pathOf(client),
  }))
  const setting = add(
    'set <client> <url>',
    'set it; a signed test fire to it must be answered with 2xx',
    'set acme https://hooks.example.org/in',
  )
  setting.command
    .option('--secret <secret>', 'the secret that its receiver has: whsec_...')
    .addOption(
      new Option(
        '--secret-file <file>',
        'a file with it: who lists the processes of a machine reads arguments',
      ).conflicts('secret'),
    )
  setting.asks(async (client, url) => {
    const options = setting.command.opts<SecretOptions>()
    const secret = await secretOf(options, runtime.cwd)
    return { method: 'PUT', path: pathOf(client), body: { url, secret } }
  }, withSecret)
  const rotating = add(
    'rotate <client>',
    'a new secret; the old one signs too for a while',
    'rotate acme --overlap-hours 48',
  )
  rotating.command.option(
    '--overlap-hours <hours>',
    'for how long the old one signs too; 0 after a leak',
    Number,
  )
  rotating.asks(
    client => ({
      method: 'POST',
      path: pathOf(client, '/rotate'),
      body: { overlap_hours: rotating.command.opts<{ overlapHours?: number }>().overlapHours },
    }),
    withSecret,
  )
  add('enable <client>', 'deliver to it again', 'enable acme').asks(client => ({
    method: 'POST',
    path: pathOf(client, '/enable'),
  }))
  const disabling = add(
    'disable <client>',
    'deliver nothing more to it; the client still pulls',
    'disable acme --why "asked for it"',
  )
  disabling.command.option('--why <reason>', 'what the page tells about it')
  disabling.asks(client => ({
    method: 'POST',
    path: pathOf(client, '/disable'),
    body: { why: disabling.command.opts<{ why?: string }>().why },
  }))
  add('remove <client>', 'forget it and its secrets', 'remove acme').asks(
    client => ({ method: 'DELETE', path: pathOf(client) }),
    () => ['removed'],
  )
}

type SecretOptions = { readonly secret?: string; readonly secretFile?: string }

/** The secret that the receiver has already; null where it gets one from us. */
const secretOf = async ({ secret, secretFile }: SecretOptions, cwd: string): Promise<string | null> =>
  secretFile === undefined ? (secret ?? null) : (await readFile(resolve(cwd, secretFile), 'utf8')).trim()

/** A secret is told once and on a line of its own. */
const withSecret = ({ webhook, secret }: Readonly<Record<string, unknown>>): readonly string[] => [
  ...linesOf({ webhook }),
  ...(secret === null ? [] : ['secret, shown this once:', String(secret)]),
]
