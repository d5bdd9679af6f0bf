import type { RefreshOutcome } from '#api/history/version-source.ts'

/** Tells of every swap; of a failure, or of a store without a version, once and not at every look. */
export function createTeller(
  storeUrl: string,
  note: (line: string) => void,
): (outcome: RefreshOutcome) => void {
  let isServing = false
  let lastLine = ''
  return outcome => {
    isServing ||= outcome.kind === 'swapped' || outcome.kind === 'fallen back'
    const line = describeLook(outcome, isServing, storeUrl)
    if (line !== '' && line !== lastLine) note(line)
    lastLine = line
  }
}

/** What an operator should know of a look at the pointer; nothing where nothing changed. */
function describeLook(outcome: RefreshOutcome, isServing: boolean, storeUrl: string): string {
  switch (outcome.kind) {
    case 'unchanged':
      return ''
    case 'swapped':
      return outcome.from === null ? `serving ${outcome.to}` : `swapped ${outcome.from} for ${outcome.to}`
    case 'fallen back':
      return `serving ${outcome.to}, which was published before: ${toSentence(outcome.error)}`
    case 'failed':
      return `${isServing ? 'still serving the version before' : 'nothing is served yet'}: ${toSentence(outcome.error)}`
    case 'unlisted':
      return `the list of versions stays as it was: ${toSentence(outcome.error)}`
    case 'empty':
      return isServing
        ? `still serving the version before: nothing is published in ${storeUrl} any more`
        : `nothing is published in ${storeUrl}; publish with \`highwater build --store ${storeUrl}\`; ` +
            'it will be served as soon as it is there'
  }
}

export const toSentence = (error: unknown): string => (error instanceof Error ? error.message : String(error))
