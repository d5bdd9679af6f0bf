import { flag, type OptionsOf } from './option.ts'

/** As every command that moves the pointer has them. */
export const SIGNING_OPTIONS = {
  allowUnsigned: flag('publish without a signature although the newest entry has one'),
  newKey: flag('publish the key of SIGNING_KEY_FILE in addition to the published keys'),
}

/** What an operator allows on the command line about signatures. */
export type SigningConsent = Partial<OptionsOf<typeof SIGNING_OPTIONS>> & {
  /** Accepting a newest entry whose signature is wrong or missing, because the operator knows its origin. */
  readonly vouchForHead?: boolean | undefined
}
