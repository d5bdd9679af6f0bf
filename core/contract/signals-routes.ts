// The route table of the signals service: who may ask what, and what is answered. The app, the OpenAPI document and the
// tests all loop over it.
import { z } from 'zod'
import { deliveryAccount, identity, logHead } from './keyed-answers.ts'
import { PROGRAM_ROUTES } from './program-routes.ts'
import { signal } from './signal.ts'
import { ACCOUNT_PATH, HISTORY_PATH } from './signal-query.ts'
import type { SignalsRoute } from './signals-route.ts'
import { ownWebhookRequest, registeredWebhook, webhookState } from './webhook.ts'

const checks = z
  .object({
    redis: z.boolean().describe('True when Redis, which holds the log, answers.'),
    log: z.boolean().describe('True when the log there is the one that was written.'),
  })
  .describe('What was looked at.')

export const SIGNALS_ROUTES: readonly SignalsRoute[] = [
  {
    id: 'healthz',
    method: 'GET',
    path: '/healthz',
    access: 'open',
    title: 'Liveness',
    about: 'Answers 200 as long as the process lives, with or without Redis.',
    data: z.object({ status: z.literal('ok').describe('The process lives.') }),
    isBare: false,
    refusals: [],
  },
  {
    id: 'readyz',
    method: 'GET',
    path: '/readyz',
    access: 'open',
    title: 'Readiness',
    about: 'Answers 200 when the log can be read and is whole, else 503 with the checks in details.',
    data: z.object({ ready: z.literal(true).describe('Always true: else the answer is 503.'), checks }),
    isBare: false,
    refusals: ['not_ready'],
  },
  {
    id: 'version',
    method: 'GET',
    path: '/version',
    access: 'open',
    title: 'Versions',
    about: 'Version of the interface and of the schema of a signal.',
    data: z.object({
      api_version: z.string().describe('Version of the interface.'),
      stability: z.string().describe('`stable`.'),
      schema_version: z.string().describe('`schema_version` of the signals that are written now.'),
    }),
    isBare: false,
    refusals: [],
  },
  {
    id: 'openapi',
    method: 'GET',
    path: '/openapi.json',
    access: 'open',
    title: 'This document',
    about: 'The description of this service for programs, OpenAPI 3.1.',
    data: z.looseObject({
      openapi: z.string().describe('Version of OpenAPI.'),
      paths: z.record(z.string(), z.unknown()).describe('What can be asked, by path.'),
    }),
    isBare: true,
    refusals: [],
  },
  {
    id: 'whoami',
    method: 'GET',
    path: '/v1/whoami',
    access: 'key',
    title: 'Who am I',
    about:
      'The client that a key belongs to, and what it may see. Answered before the account is active, too.',
    data: identity,
    isBare: true,
    refusals: [],
  },
  {
    id: 'confirm_key',
    method: 'POST',
    path: '/v1/keys/confirm',
    access: 'key',
    title: 'Confirm a key',
    about:
      'Sent with the new key of a rotation: from now on the old one is refused. Repeating it changes nothing.',
    data: z.object({
      client_id: z.string().describe('Id of the client.'),
      key_id: z.string().describe('The key that stays.'),
      retired_key_ids: z.array(z.string()).describe('The keys that died of this.'),
    }),
    isBare: false,
    refusals: ['conflict'],
  },
  {
    id: 'put_webhook',
    method: 'PUT',
    path: '/v1/webhook',
    access: 'key',
    title: 'Register the webhook',
    about:
      'Sends a signed test to the address, and keeps it where that is answered with 2xx; otherwise all stays as it was. ' +
      'What went wrong there is not told. Five times an hour.',
    body: ownWebhookRequest,
    data: registeredWebhook,
    isBare: false,
    refusals: ['rate_limited', 'unsupported_media_type', 'payload_too_large', 'validation_error', 'conflict'],
  },
  {
    id: 'get_webhook',
    method: 'GET',
    path: '/v1/webhook',
    access: 'key',
    title: 'The webhook',
    about: 'How the webhook of the client stands, without its secrets and without its path.',
    data: webhookState,
    isBare: false,
    refusals: ['not_found'],
  },
  {
    id: 'latest',
    method: 'GET',
    path: '/v1/signals/latest',
    access: 'account',
    title: 'Newest signal',
    about: 'The last row of the history.',
    data: signal,
    isBare: false,
    refusals: ['not_found'],
  },
  {
    id: 'history',
    method: 'GET',
    path: HISTORY_PATH,
    access: 'account',
    title: 'Signals since a number',
    about: 'Every signal after `since` of the aliases that the client is entitled to now, ascending by seq.',
    data: z.array(signal),
    isBare: false,
    refusals: ['validation_error'],
  },
  {
    id: 'schema',
    method: 'GET',
    path: '/v1/signals/schema',
    access: 'account',
    title: 'Schema of a signal',
    about: 'The JSON Schema of a signal.',
    data: z.looseObject({
      $schema: z.string().describe('The dialect of JSON Schema.'),
      $id: z.string().describe('Where this schema is served.'),
      type: z.literal('object').describe('A signal is an object.'),
    }),
    isBare: false,
    refusals: [],
  },
  {
    id: 'head',
    method: 'GET',
    path: '/v1/signals/head',
    access: 'account',
    title: 'Where the log stands',
    about: 'Small enough to be polled: silence and a lost connection are two things.',
    data: logHead,
    isBare: false,
    refusals: [],
  },
  {
    id: 'account',
    method: 'GET',
    path: ACCOUNT_PATH,
    access: 'account',
    title: 'Account of deliveries',
    about:
      'What became of every signal from one number to another: how many the client sees, how many its webhook has ' +
      'acknowledged, which ones not, and a digest that it can compute of what it has.',
    data: deliveryAccount,
    isBare: false,
    refusals: ['validation_error'],
  },
  ...PROGRAM_ROUTES,
]
