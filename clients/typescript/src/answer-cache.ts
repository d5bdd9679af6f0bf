type Kept = { readonly etag: string; readonly isImmutable: boolean; readonly text: string }

/** Keeps answers that have an ETag, by path, at most so many characters: the one that was used least recently goes first. */
export function createAnswerCache(mostCharacters: number) {
  const kept = new Map<string, Kept>() // in the order of use

  function put(path: string, answer: Kept): void {
    kept.delete(path)
    kept.set(path, answer)
  }

  return {
    get(path: string): Kept | undefined {
      const found = kept.get(path)
      if (found !== undefined) put(path, found)
      return found
    },
    /** The target of a redirect is not kept: the next redirect may lead elsewhere. */
    set(path: string, { headers, redirected }: Response, text: string): void {
      const etag = headers.get('etag')
      if (etag === null || redirected || text.length > mostCharacters) return
      put(path, { etag, isImmutable: /\bimmutable\b/.test(headers.get('cache-control') ?? ''), text })
      let left = mostCharacters
      for (const [other, { text }] of [...kept].reverse()) {
        left -= text.length
        if (left < 0) kept.delete(other)
      }
    },
  }
}
