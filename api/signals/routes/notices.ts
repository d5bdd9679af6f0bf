import { z } from 'zod'
import { named, text, textOrNull, type ValueOf, word } from '#core/contract/payloads/field.ts'
import { NOTICE_EVENTS, readNotices } from '#signals/subscribers/notices.ts'
import { sendEnveloped } from '../../service/exchange.ts'
import { routesOf } from '../exchange.ts'

const NOTICES = '/v1/notices'

const notice = named('Notice', {
  at: text('UTC instant, ISO 8601.'),
  event: word(
    '`endpoint_failing`: every attempt has failed for an hour; `endpoint_disabled`; `key_expiring`: a key ends within seven days; `key_revoked`: a key is revoked and what it chose of endpoints stays.',
    NOTICE_EVENTS,
  ),
  endpoint: textOrNull('The endpoint that it is about, or null.'),
  key_id: textOrNull('Public part of the key that it is about, or null.'),
  reason: text('Why, in a sentence.'),
})

export const NOTICE_ROUTES = routesOf('key', [
  {
    id: 'notices',
    path: NOTICES,
    title: 'Notices',
    about:
      'What needs your attention, newest first, a hundred at most. Each is also sent to your other endpoints, as a signed POST ' +
      'with `event` and without a number, and to your mail address if the operator has it.',
    data: z.array(notice),
    handler: async (c, { redis }, { client }) => {
      const data: readonly ValueOf<typeof notice>[] = await readNotices(redis, client.id)
      return sendEnveloped(c, data, { self: NOTICES, whoami: '/v1/whoami' })
    },
  },
])
