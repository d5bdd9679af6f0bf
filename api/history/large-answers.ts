import { ApiError } from '#core/contract/errors.ts'
import type { AnswerInBlocks } from '#core/dataset/resources/render-answer.ts'
import type { Coding } from '../http/negotiate-coding.ts'
import type { CacheUse } from './cache-use.ts'
import { compressBlocks } from './compress.ts'
import { LARGE_LIMITS, type LargeLimits } from './large-limits.ts'
import {
  type AnswerHeaders,
  type ReadyAnswer,
  type StreamedAnswer,
  streamedHeaders,
  toReadyAnswer,
} from './ready-answer.ts'
import { type BodyReader, createSharedBody, type SharedBody } from './shared-body.ts'

/** An answer that is asked for; nothing of it is made yet. */
export type Asked = {
  /** Equal answers have equal keys. */
  readonly key: string
  readonly etag: string
  readonly coding: Coding
  /** Evaluates it. May throw. */
  readonly render: () => AnswerInBlocks
}

/** A reader who took longer than there is. */
export class SlowReaderError extends Error {
  constructor(readingMs: number) {
    super(`a large answer was not read within ${readingMs} ms`)
    this.name = 'SlowReaderError'
  }
}

/** Answers that are made while they are sent, a few at a time; equal ones under way are one. */
export type LargeAnswers = (asked: Asked) => StreamedAnswer

type UnderWay = { readonly headers: AnswerHeaders; readonly body: SharedBody }

/** `keep` is given those that were made whole and are small enough. */
export function createLargeAnswers(
  use: CacheUse,
  keep: (key: string, answer: ReadyAnswer) => void,
  limits: LargeLimits = LARGE_LIMITS,
): LargeAnswers {
  const underWay = new Map<string, UnderWay>()
  let places: number = limits.mostLarge

  const assertPlace = (): void => {
    if (places > 0) return
    const most = `${limits.mostLarge} large answers are being made and sent already`
    throw new ApiError('overloaded', `${most}; ask again in a moment`)
  }
  const begin = ({ key, etag, coding }: Asked, { blocks, headers }: AnswerInBlocks): BodyReader => {
    assertPlace()
    places--
    use.misses++
    const body = createSharedBody(compressBlocks(blocks, coding), limits, {
      onWhole: bytes => keep(key, toReadyAnswer(bytes, coding, etag, headers)),
      onDeserted: () => {
        places++
        if (underWay.get(key)?.body === body) underWay.delete(key)
      },
    })
    underWay.set(key, { headers, body }) // in place of one whose beginning is gone
    return body.join()! // a new one can always be joined
  }
  return asked => {
    const { key, etag, coding, render } = asked
    let rendered: AnswerInBlocks | null = null
    const headers = (): AnswerHeaders => {
      const known = underWay.get(key)?.headers
      if (known !== undefined) return known
      assertPlace() // before the work of evaluating it
      rendered ??= render()
      return rendered.headers
    }
    const open = (): BodyReader => {
      const joined = underWay.get(key)?.body.join() ?? null
      if (joined !== null) use.shared++
      return limitTime(joined ?? begin(asked, rendered ?? render()), limits.readingMs)
    }
    return { etag, headers: () => streamedHeaders(coding, etag, headers()), open }
  }
}

/** The same reader, who has to leave after this time. */
function limitTime(reader: BodyReader, readingMs: number): BodyReader {
  const timer = setTimeout(() => reader.leave(new SlowReaderError(readingMs)), readingMs)
  timer.unref()
  return {
    async next() {
      const chunk = await reader.next()
      if (chunk === null) clearTimeout(timer)
      return chunk
    },
    leave(reason) {
      clearTimeout(timer)
      reader.leave(reason)
    },
  }
}
