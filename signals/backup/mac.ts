import { createHmac, type Hmac, hkdfSync, type KeyObject } from 'node:crypto'

/** The message authentication code of a backup, under a key of SECRET_KEY; derived, because that key also encrypts. */
export const createMac = (key: KeyObject): Hmac =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'highwater backup', 32)))
