/**
 * The cases of a table for `test.each`: one a line, its cells between arrows. A cell that is one inserted value is that value.
 * `\n` and `\r` of another cell but the last are line breaks.
 */
export const casesOf = <Row extends readonly unknown[] = string[]>(
  texts: TemplateStringsArray,
  ...values: readonly unknown[]
): Row[] =>
  String.raw(texts, ...values.map((_, i) => `\0${i}\0`))
    .slice(1)
    .split('\n')
    .map(line => line.split(' -> ').map(toCell(values))) as unknown as Row[] // as the caller wrote them

const toCell =
  (values: readonly unknown[]) =>
  (text: string, i: number, { length }: readonly string[]): unknown => {
    const whole = /^\0(\d+)\0$/.exec(text)
    if (whole !== null) return values[Number(whole[1])]
    const written = i < length - 1 ? text.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : text
    return written.replaceAll(/\0(\d+)\0/g, (_, at) => String(values[Number(at)]))
  }
