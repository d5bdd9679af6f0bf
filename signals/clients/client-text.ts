import { toRecord } from '../redis/record-text.ts'
import { rememberText } from '../redis/remember-text.ts'
import { toClient } from './client.ts'

/** Clients whose latest record is kept: some megabytes. */
const MOST_CLIENTS = 10_000

/** The client that a record tells of, which was read as a text; null where there is none. Each text is parsed once. */
export const clientOfText = rememberText(MOST_CLIENTS, (text, id) => toClient(id, toRecord(text)))
