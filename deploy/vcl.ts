// A few words of Varnish's language, so that what is made of them reads as what it does.

/** Lines of VCL; a list among them is what stands indented below the line before it. */
export type Vcl = readonly (string | Vcl)[]

/** A sub, with an empty line before it. */
export const sub = (name: string, body: Vcl): Vcl => ['', `sub ${name} {`, body, '}']

/** What is done only where a condition holds. */
export const when = (condition: string, body: Vcl): Vcl => [`if (${condition}) {`, body, '}']

/** The first of several conditions that holds, and what is done then; and what is done where none does. */
export const firstOf = (cases: readonly (readonly [condition: string, body: Vcl])[], otherwise: Vcl): Vcl => [
  ...cases.flatMap(([condition, body], i) => [`${i === 0 ? 'if' : '} elsif'} (${condition}) {`, body]),
  '} else {',
  otherwise,
  '}',
]

/** A replacement in a text: of the first match of a pattern, or of all. Where nothing matches the text stays. */
export type Rewrite = { readonly pattern: string; readonly by: string; readonly everywhere?: true }

/** Rewrites a header of the request in place. */
export const rewrite = (header: string, { pattern, by, everywhere }: Rewrite): string =>
  `set ${header} = ${everywhere ? 'regsuball' : 'regsub'}(${header}, "${pattern}", "${by}");`

/** The text of a file. */
export const renderVcl = (lines: Vcl): string => `${indent(lines, 0).join('\n')}\n`

const indent = (lines: Vcl, depth: number): string[] =>
  lines.flatMap(line => {
    if (typeof line !== 'string') return indent(line, depth + 1)
    return line === '' ? [''] : ['  '.repeat(depth) + line]
  })
