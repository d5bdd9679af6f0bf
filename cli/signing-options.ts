import type { Command } from 'commander'

/** What an operator said about signatures on the command line: each is refused where nobody said it. */
export type SigningConsent = {
  /** Going on without signatures where the newest entry has one. */
  readonly allowUnsigned: boolean
  /** Publishing another key than those that are published. */
  readonly allowNewKey: boolean
  /** Following a newest entry whose signature is wrong or missing, because the operator knows who wrote it. */
  readonly vouchForHead: boolean
}

export type SigningOptions = { readonly allowUnsigned?: boolean; readonly newKey?: boolean }

export const NO_CONSENT: SigningConsent = { allowUnsigned: false, allowNewKey: false, vouchForHead: false }

/** `--allow-unsigned` and `--new-key`, as every command that moves the pointer has them. */
export const addSigningOptions = (command: Command): Command =>
  command
    .option('--allow-unsigned', 'go on without SIGNING_KEY_FILE, although the newest entry is signed')
    .option('--new-key', 'publish the key of SIGNING_KEY_FILE beside others that are published')

export const toConsent = (
  { allowUnsigned = false, newKey = false }: SigningOptions,
  vouchForHead = false,
): SigningConsent => ({ allowUnsigned, allowNewKey: newKey, vouchForHead })
