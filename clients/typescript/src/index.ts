export type * from './generated/history.ts'
export type {
  EndpointChange,
  EndpointRequest,
  EndpointState,
  HeadAnswer,
  Identity,
  LogHead,
  Notice,
  OwnDelivery,
  Receipt,
  ResendRequest,
  Signal,
  SignalDeliveries,
} from './generated/signals.ts'
export { type Columns, Highwater, type OpenOptions, type StrategyHistory } from './highwater.ts'
export { type ErrorCode, type ErrorDetails, HighwaterError } from './highwater-error.ts'
export type { CallOptions, ClientOptions } from './requests.ts'
export { checkSeals, type ReadSeals, type SealState } from './seals.ts'
export { HighwaterSignals, type PulledSignal, type SealsOptions, type SignalsOptions } from './signals.ts'
export type { VerifyBookOptions } from './verify.ts'
export { type Delivery, type VerifyOptions, verifyWebhook, type WebhookHeaders } from './verify-webhook.ts'

/** The version of this package, which is that of the product. */
export const version = '0.2.0'
