// Whether what a server said to any bytes at all is a row of answers of its own, and nothing else.
import { connect } from 'node:net'
import { z } from 'zod'
import type { Sent } from './any-bytes.ts'

/** Whoever hears nothing for so long goes away: what was sent is the beginning of a request that goes on. */
const PATIENCE_MS = 150

type Heard = { readonly text: string; readonly isWhole: boolean }

/** Sends bytes, and tells what is wrong with what comes back; nothing where all of it is sound. */
export async function judgeBytes(url: string, sent: Sent): Promise<readonly string[]> {
  const heard = await talk(url, sent)
  return problemsIn(heard, /HEAD/.test(sent.pieces.join('')))
}

function talk(url: string, { pieces, isAborted }: Sent): Promise<Heard> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname, noDelay: true })
    let [text, isWhole] = ['', true]
    const leave = (): void => {
      isWhole = false
      socket.destroy()
    }
    socket.setEncoding('latin1').setTimeout(PATIENCE_MS, leave)
    socket.on('data', (more: string) => {
      text += more
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      isWhole = false
      // The server may be done with the connection while bytes are still on their way to it.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.once('close', () => resolve({ text, isWhole }))
    socket.once('connect', () => {
      for (const piece of pieces) socket.write(piece, 'latin1', isAborted ? leave : undefined)
    })
  })
}

/** What Node answers by itself to what is not a request, without a body. */
const BY_SERVER: ReadonlySet<number> = new Set([400, 408, 413, 417, 431])

const refusal = z.object({
  error: z.strictObject({ code: z.string(), message: z.string().min(1), details: z.unknown() }),
  meta: z.looseObject({ generated_utc: z.string() }),
})

function problemsIn({ text, isWhole }: Heard, mayBeHeads: boolean): string[] {
  const problems: string[] = []
  let rest = text
  while (rest !== '') {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n(?:[\w-]+: [^\r\n]*\r\n)*\r\n/.exec(rest)
    if (head === null)
      return isWhole ? [...problems, `no answer: ${rest.slice(0, 200)} in ${JSON.stringify(text)}`] : problems
    const status = Number(head[1])
    rest = rest.slice(head[0].length)
    if (status === 100) continue
    if (status >= 500) problems.push(`failed: ${head[0]}`)
    const length = Number(/^content-length: (\d+)/im.exec(head[0])?.[1] ?? 0)
    const isBare = status === 304 || (mayBeHeads && (rest === '' || rest.startsWith('HTTP/1.1 ')))
    if (isBare) continue
    const body = rest.slice(0, length)
    rest = rest.slice(length)
    if (body.length < length) return isWhole ? [...problems, `cut off: ${head[0]}${body}`] : problems
    if (BY_SERVER.has(status) && body === '') {
      rest = rest.replace(/^0\r\n\r\n/, '') // chunked
      continue
    }
    if (status >= 400 && !refusal.safeParse(orNull(body)).success)
      problems.push(`no envelope: ${head[0]}${body}`)
  }
  return problems
}

function orNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
