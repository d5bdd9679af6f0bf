// Tells a service that watches for nights that did not happen, such as healthchecks.io: at the beginning and at the end.

/** Whoever is told answers at once, or is as good as down. */
const TIMEOUT_MS = 10_000

/** A check that misses one ping wakes somebody, so a moment's trouble of the network is outlived. */
const ATTEMPTS = 3
const PAUSE_MS = 2_000

export type Ping = (what: 'start' | 'done' | 'fail', body: string) => Promise<void>

/** Asks the address itself when a night is done, and with `/start` or `/fail` behind it otherwise. Never rejects. */
export function createPing(
  url: string | null,
  pause: (ms: number) => Promise<void>,
  note: (line: string) => void,
): Ping {
  return async (what, body) => {
    if (url === null) return
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const fault = await post(withEnding(url, what), body)
      if (fault === null) return
      if (attempt === ATTEMPTS) note(`warning: nobody could be told (${what}): NIGHTLY_PING_URL ${fault}`)
      else await pause(PAUSE_MS)
    }
  }
}

function withEnding(text: string, what: 'start' | 'done' | 'fail'): string {
  const url = new URL(text)
  if (what !== 'done') url.pathname = `${url.pathname.replace(/\/$/, '')}/${what}`
  return url.href
}

/** Null where it was taken, else why not, in words that do not name the address: it is a secret. */
async function post(url: string, body: string): Promise<string | null> {
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT_MS) })
    await response.body?.cancel()
    return response.ok ? null : `answered ${response.status}`
  } catch {
    return 'does not answer'
  }
}
