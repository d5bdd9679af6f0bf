// What the route table of the signals service says of a route.
import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

export type ProgramRouteId =
  | 'program'
  | 'program_basket'
  | 'program_deploys'
  | 'program_performance'
  | 'get_profile'
  | 'put_profile'
  | 'program_simulate'

export type PreviewRouteId = 'program_preview' | 'preview_simulate'

export type SignalsRouteId =
  | 'healthz'
  | 'readyz'
  | 'version'
  | 'openapi'
  | 'whoami'
  | 'confirm_key'
  | 'put_webhook'
  | 'get_webhook'
  | 'latest'
  | 'history'
  | 'schema'
  | 'head'
  | 'account'
  | ProgramRouteId
  | PreviewRouteId

/**
 * `open` needs no key, `key` any valid one, `account` one of a client whose account is switched on, `program` one of a
 * client that has the program among its entitlements, switched on or not. `preview` needs none, is counted by the address
 * that asks, and may be read by web pages.
 */
export type Access = 'open' | 'key' | 'account' | 'program' | 'preview'

export type SignalsRoute = {
  readonly id: SignalsRouteId
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly access: Access
  readonly title: string
  readonly about: string
  /** What is sent; none where nothing is. */
  readonly body?: z.ZodType
  /** Of the envelope, or of the whole answer where that is bare. */
  readonly data: z.ZodType
  readonly isBare: boolean
  /** What the route may refuse beside what its access and every route may. */
  readonly refusals: readonly ErrorCode[]
}

/** Whether a route is answered without a key. */
export const isKeyless = ({ access }: SignalsRoute): boolean => access === 'open' || access === 'preview'
