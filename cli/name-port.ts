import { messageOf } from '#storage/error-code.ts'

/** Names the variable of a port in the error of a server that cannot listen on it. */
export const namePort = <Server>(variable: string, listening: Promise<Server>): Promise<Server> =>
  listening.catch((cause: unknown) => {
    throw new Error(`${variable}: ${messageOf(cause)}`, { cause })
  })
