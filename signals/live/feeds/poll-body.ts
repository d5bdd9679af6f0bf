const NAMES = ['t', 'o', 'h', 'l', 'c', 'v'] as const

/** The answer to a poll as a table of a book, or why it is none. Each JSON row becomes a line, and is judged as one. */
export function toTable(text: string): { readonly table: string } | { readonly why: string } {
  const body = text.trim()
  if (!body.startsWith('[') && !body.startsWith('{')) {
    return /^[a-z](,[a-z])+\r?$/m.test(body.split('\n', 1)[0] ?? '')
      ? { table: body }
      : { why: `expected a table that begins with ${NAMES.join()} or a JSON list, got another thing` }
  }
  const rows = parseJson(body)
  if (!Array.isArray(rows)) return { why: 'expected a JSON list of bars, got another thing' }
  return { table: [NAMES.join(), ...rows.map(toLine)].join('\n') }
}

/** What is neither a list nor an object becomes a line that no reader takes for a bar. */
function toLine(row: unknown): string {
  if (Array.isArray(row)) return row.map(toCell).join()
  if (typeof row !== 'object' || row === null) return toCell(row)
  const fields = new Map(Object.entries(row))
  return NAMES.map(name => toCell(fields.get(name))).join()
}

const toCell = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
