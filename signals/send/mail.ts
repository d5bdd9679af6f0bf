// Notices by mail, through the operator's own mail server.
import { createTransport } from 'nodemailer'
import { codeOf } from '#storage/error-code.ts'

type Mail = { readonly to: string; readonly subject: string; readonly text: string }

/** Resolves once the server has taken it. Rejects with a sentence for the operator, which has no address and no password. */
export type SendMail = (mail: Mail) => Promise<void>

/** A server that takes longer, for any of its answers, counts as down. */
const TIMEOUT_MS = 10_000

/** `url` is `smtp:` or `smtps:`, with name and password if the server wants them; these are sent over TLS only. */
export function createMailer(url: string, from: string): SendMail {
  const { hostname, password } = new URL(url)
  const transport = createTransport({
    url,
    ...{ dnsTimeout: TIMEOUT_MS, connectionTimeout: TIMEOUT_MS },
    ...{ greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
    requireTLS: password !== '' && !LOOPBACK.test(hostname),
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  return async ({ to, subject, text }) => {
    try {
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text })
    } catch (error) {
      throw new Error(
        `a notice was not mailed (${describe(error)}): check SMTP_URL, MAIL_FROM and the address of the client`,
      )
    }
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** The code, and what the server answered in figures: its text may repeat an address. */
function describe(error: unknown): string {
  const status = error instanceof Error && 'responseCode' in error ? ` ${String(error.responseCode)}` : ''
  return `${codeOf(error) ?? 'no code'}${status}`
}
