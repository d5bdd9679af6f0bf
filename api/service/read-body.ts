// Bodies of requests, read no further than their limit.
import { isUtf8 } from 'node:buffer'
import { MIMEType } from 'node:util'
import { ApiError } from '#core/contract/errors.ts'

/** The JSON of a request; an empty body is an empty object if `isOptional`. Throws 415, 413 or 400, in this order. */
export async function readJson(request: Request, mostBytes: number, isOptional = false): Promise<unknown> {
  if (!isOptional) assertJson(request)
  const text = await readText(request, mostBytes)
  if (text === '' && isOptional) return {}
  assertJson(request)
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ApiError('bad_request', 'the body is not well-formed JSON')
    throw error
  }
}

/** The body as UTF-8. Throws 415 if it is compressed, 413 as soon as it is too long, 400 if it breaks off or is not UTF-8. */
export async function readText(request: Request, mostBytes: number): Promise<string> {
  const bytes = await readBytes(request, mostBytes)
  if (!isUtf8(bytes)) throw new ApiError('bad_request', 'the body is not UTF-8')
  return new TextDecoder().decode(bytes)
}

async function readBytes({ headers, body }: Request, mostBytes: number): Promise<Buffer> {
  const coding = headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  if (coding !== 'identity')
    throw new ApiError(
      'unsupported_media_type',
      'a body is read as it is: send it without Content-Encoding',
      { headers: { 'accept-encoding': 'identity' } },
    )
  if (Number(headers.get('content-length') ?? 0) > mostBytes) throw tooLarge(mostBytes)
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length
      if (length > mostBytes) throw tooLarge(mostBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    // Only the connection can fail here: nothing to log, and perhaps no client left to read the answer.
    throw new ApiError('bad_request', 'the body did not arrive whole')
  }
  return Buffer.concat(chunks)
}

function assertJson({ headers }: Request): void {
  const type = parseType(headers.get('content-type') ?? '')
  if (type?.essence !== 'application/json')
    throw new ApiError('unsupported_media_type', 'expected a body with Content-Type: application/json')
  if (!/^utf-?8$/i.test(type.params.get('charset') ?? 'utf-8'))
    throw new ApiError('unsupported_media_type', 'JSON is UTF-8: send it so, without another charset')
}

function parseType(text: string): MIMEType | null {
  try {
    return new MIMEType(text)
  } catch {
    return null // nothing else can fail there
  }
}

const tooLarge = (mostBytes: number): ApiError =>
  new ApiError('payload_too_large', `a body has ${mostBytes} bytes at the most`)
