// The route table of the operator's interface: the app, the docs and the tests loop over it.
import type { Handler } from './exchange.ts'
import * as clients from './handlers/clients.ts'
import * as deliveries from './handlers/deliveries.ts'
import { fire } from './handlers/fire.ts'
import * as live from './handlers/live.ts'
import * as webhooks from './handlers/webhooks.ts'

export type OperatorRoute = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly handler: Handler
}

const route = (method: OperatorRoute['method'], path: string, handler: Handler): OperatorRoute => ({
  method,
  path,
  handler,
})

const CLIENT = '/ops/clients/:client'

export const OPERATOR_ROUTES: readonly OperatorRoute[] = [
  route('GET', '/ops/status', deliveries.status),
  route('GET', '/ops/signals', deliveries.allSignals),
  route('POST', '/ops/signals', fire),
  route('GET', '/ops/signals/:seq', deliveries.oneSignal),
  route('GET', '/ops/signals/:seq/:client', deliveries.oneDelivery),
  route('GET', '/ops/deliveries', deliveries.allDeliveries),
  route('GET', '/ops/clients', clients.allClients),
  route('POST', '/ops/clients', clients.addClient),
  route('GET', CLIENT, clients.oneClient),
  route('POST', `${CLIENT}/activate`, clients.activate),
  route('POST', `${CLIENT}/suspend`, clients.suspend),
  route('POST', `${CLIENT}/entitlements`, clients.entitle),
  route('GET', `${CLIENT}/keys`, clients.clientKeys),
  route('POST', `${CLIENT}/keys`, clients.newKey),
  route('POST', '/ops/keys/:key/confirm', clients.confirm),
  route('POST', '/ops/keys/:key/revoke', clients.revoke),
  route('GET', `${CLIENT}/webhook`, webhooks.showWebhook),
  route('PUT', `${CLIENT}/webhook`, webhooks.setWebhook),
  route('DELETE', `${CLIENT}/webhook`, webhooks.removeWebhook),
  route('POST', `${CLIENT}/webhook/rotate`, webhooks.rotateWebhook),
  route('POST', `${CLIENT}/webhook/enable`, webhooks.enableWebhook),
  route('POST', `${CLIENT}/webhook/disable`, webhooks.disableWebhook),
  route('POST', `${CLIENT}/test`, webhooks.fireTest),
  route('POST', `${CLIENT}/replay`, webhooks.replay),
  route('GET', '/ops/live', live.live),
  route('POST', '/ops/live/halt', live.haltLive),
  route('POST', '/ops/live/resume', live.resumeLive),
  route('POST', '/ops/live/mode', live.orderLiveMode),
]
