import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { toLlmsText } from '#core/contract/llms-text.ts'
import { toOpenApi } from '#core/contract/openapi.ts'
import { sha256 } from '#storage/digest.ts'
import { negotiateCoding } from '../negotiate-coding.ts'
import { CACHING } from '../shared-headers.ts'
import { type Handler, sendReady } from './exchange.ts'
import { API_VERSION } from './infrastructure.ts'
import { type ReadyAnswer, toReadyAnswer } from './ready-answer.ts'
import type { HistorySettings } from './settings.ts'

const CODINGS = ['br', 'gzip'] as const

type Coding = (typeof CODINGS)[number] | 'identity'

/** `/openapi.json`: the document of this service. */
export function createDocumentHandler({ publicBaseUrl }: HistorySettings): Handler {
  const document = toOpenApi({ apiVersion: API_VERSION, publicBaseUrl })
  return createTextHandler(JSON.stringify(document), 'application/openapi+json; charset=utf-8')
}

/** `/llms.txt`: the service explained to programs that read prose. */
export const createLlmsHandler = ({ publicBaseUrl }: HistorySettings): Handler =>
  createTextHandler(toLlmsText(publicBaseUrl), 'text/plain; charset=utf-8')

/** A text that is made once, and compressed once for each coding that is asked for. */
function createTextHandler(text: string, mediaType: string): Handler {
  const bytes = new TextEncoder().encode(text)
  const answers = new Map<Coding, Promise<ReadyAnswer>>()
  return async (c, parts) => {
    const coding = negotiateCoding(c.req.header('accept-encoding'), CODINGS)
    const answer = answers.get(coding) ?? encode(bytes, coding, mediaType)
    answers.set(coding, answer)
    return sendReady(c, parts, await answer, CACHING.dataset)
  }
}

async function encode(
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding,
  mediaType: string,
): Promise<ReadyAnswer> {
  const body = await COMPRESS[coding](bytes)
  return toReadyAnswer(body, coding, `"${sha256(body).slice(0, 32)}"`, {
    'content-type': mediaType,
  })
}

/** At full strength: it is done once. */
const COMPRESS: {
  readonly [C in Coding]: (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>
} = {
  br: promisify(brotliCompress),
  gzip: bytes => strongGzip(bytes, { level: 9 }),
  identity: async bytes => bytes,
}

const strongGzip = promisify(gzip)
