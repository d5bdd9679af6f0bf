// Reads what a chart has drawn: its elements, and the points of a path.
import { all, type Element, parseMarkup } from '../../support/browser/rendered-pages.ts'

export type Point = readonly [x: number, y: number]

const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]|&(?!#\d+;)/u

/** The root element of `text`; throws unless it is well-formed XML with numeric references only. */
export function parseXml(text: string): Element {
  if (FORBIDDEN.test(text)) throw new Error(`not a character of XML: ${FORBIDDEN.exec(text)}`)
  const [root, ...others] = parseMarkup(text)
  if (root === undefined || others.length > 0) throw new Error('not one root element')
  return root
}

/** The elements of an `svg` text with a class. */
export const withClass = (text: string, name: string): Element[] =>
  all(parseXml(text)).filter(({ attributes }) => attributes.class?.split(' ').includes(name))

/** The points of each part of a path, in its own units. */
export function partsOf(d: string): Point[][] {
  const parts: Point[][] = []
  let [x, y] = [0, 0]
  for (const [, command, list] of d.matchAll(/([A-Za-z])([^A-Za-z]*)/g)) {
    const numbers = (list!.match(/-?(?:\d*\.)?\d+/g) ?? []).map(Number)
    if (numbers.join('').length < list!.replaceAll(' ', '').length - 1)
      throw new Error(`not numbers: ${list}`)
    for (let i = 0; i < numbers.length; i += 'hHvV'.includes(command!) ? 1 : 2) {
      const [a, b] = [numbers[i]!, numbers[i + 1]!]
      if (command === 'M') [x, y] = [a, b]
      else if (command === 'm' || command === 'l') [x, y] = [x + a, y + b]
      else if (command === 'h') x += a
      else if (command === 'H') x = a
      else if (command === 'v') y += a
      else if (command === 'V') y = a
      else throw new Error(`no command of a chart: ${command}`)
      if ('Mm'.includes(command!)) parts.push([])
      parts.at(-1)!.push([x, y])
    }
  }
  return parts
}

/** The points of the lines of a kind, in units of the drawing. */
export const linePoints = (text: string, kind: string): Point[] =>
  withClass(text, kind)
    .filter(({ name }) => name === 'path')
    .flatMap(({ attributes }) => partsOf(attributes.d!).flat())
    .map(([x, y]) => [x / 10, y / 10])
