// The routes of the operator's interface as the app mounts them: each line of the table, and who answers it.
import { DESCRIBED_OPERATOR_ROUTES, type OperatorRouteId } from '#core/contract/operator-routes.ts'
import type { Handler } from './exchange.ts'
import * as clients from './handlers/clients.ts'
import * as deliveries from './handlers/deliveries.ts'
import { fire } from './handlers/fire.ts'
import * as live from './handlers/live.ts'
import * as webhooks from './handlers/webhooks.ts'

export type OperatorRoute = {
  readonly id: OperatorRouteId
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As Hono spells it: `:client`. */
  readonly path: string
  readonly handler: Handler
}

const HANDLERS: { readonly [Id in OperatorRouteId]: Handler } = {
  status: deliveries.status,
  signals: deliveries.allSignals,
  fire,
  signal: deliveries.oneSignal,
  delivery: deliveries.oneDelivery,
  deliveries: deliveries.allDeliveries,
  clients: clients.allClients,
  add_client: clients.addClient,
  client: clients.oneClient,
  activate: clients.activate,
  suspend: clients.suspend,
  entitle: clients.entitle,
  account: deliveries.account,
  keys: clients.clientKeys,
  issue_key: clients.newKey,
  confirm_key: clients.confirm,
  revoke_key: clients.revoke,
  webhook: webhooks.showWebhook,
  set_webhook: webhooks.setWebhook,
  remove_webhook: webhooks.removeWebhook,
  rotate_webhook: webhooks.rotateWebhook,
  enable_webhook: webhooks.enableWebhook,
  disable_webhook: webhooks.disableWebhook,
  test: webhooks.fireTest,
  replay: webhooks.replay,
  live: live.live,
  halt: live.haltLive,
  resume: live.resumeLive,
  mode: live.orderLiveMode,
}

export const OPERATOR_ROUTES: readonly OperatorRoute[] = DESCRIBED_OPERATOR_ROUTES.map(
  ({ id, method, path }) => ({
    id,
    method,
    path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    handler: HANDLERS[id],
  }),
)
