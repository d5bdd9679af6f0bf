import type { Command } from 'commander'
import type { Runtime } from '../../runtime.ts'
import { addBackup } from './backup.ts'
import { addBeginAnew } from './begin-anew.ts'
import { addClientKeys, addClients } from './clients.ts'
import { addDeliveries } from './deliveries.ts'
import { addFire } from './fire.ts'
import { addOpsLive } from './live.ts'
import { addSelfTest } from './self-test.ts'
import { addWebhook } from './webhook.ts'

const ABOUT = `
They ask the operator interface at OPERATOR_URL (this machine, OPERATOR_PORT, where it is not set) with OPERATOR_TOKEN, or
with the token that the service has generated on this machine. backup, restore,
begin-anew and rekey speak with REDIS_URL itself.

Examples:
  highwater ops status
  highwater ops clients add acme --aliases alder,birch --activate
  highwater ops keys issue acme`

/** `highwater ops`: what an operator does with signals, clients and deliveries. */
export function defineOps(command: Command, runtime: Runtime): void {
  command.addHelpText('after', ABOUT)
  for (const add of PARTS) add(command, runtime)
}

const PARTS = [
  addDeliveries,
  addFire,
  addClients,
  addClientKeys,
  addWebhook,
  addOpsLive,
  addSelfTest,
  addBackup,
  addBeginAnew,
]
