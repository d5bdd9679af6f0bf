// Reads what a chart has drawn: a strict reader of XML, and the points of a path.

export type Element = {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

export type Point = readonly [x: number, y: number]

const MARKUP = /<(\/?)([a-zA-Z]+)((?: [a-zA-Z-]+="[^"<]*")*)(\/?)>|([^<]+)/y
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]|&(?!#\d+;)/u

/** The root element of `text`; throws unless it is well-formed XML with numeric references only. */
export function parseXml(text: string): Element {
  if (FORBIDDEN.test(text)) throw new Error(`not a character of XML: ${FORBIDDEN.exec(text)}`)
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  for (MARKUP.lastIndex = 0; MARKUP.lastIndex < text.length; ) {
    const at = MARKUP.lastIndex
    const found = MARKUP.exec(text)
    if (found === null) throw new Error(`not XML: ${text.slice(at, at + 80)}`)
    const [, slash, name = '', attributes = '', empty, words] = found
    if (words !== undefined) open.at(-1)!.text += unescaped(words)
    else if (slash === '/') {
      if (open.pop()!.name !== name) throw new Error(`</${name}> does not close what is open`)
    } else {
      const pairs = [...attributes.matchAll(/([a-zA-Z-]+)="([^"]*)"/g)]
      const element: Element = {
        name,
        attributes: Object.fromEntries(pairs.map(([, key, value]) => [key, unescaped(value!)])),
        children: [],
        text: '',
      }
      if (Object.keys(element.attributes).length !== pairs.length)
        throw new Error(`an attribute twice: ${found[0]}`)
      open.at(-1)!.children.push(element)
      if (empty !== '/') open.push(element)
    }
  }
  if (open.length !== 1 || root.children.length !== 1) throw new Error('not one root element')
  return root.children[0]!
}

const unescaped = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))

/** `element` and everything in it, in the order of the document. */
export const all = (element: Element): Element[] => [element, ...element.children.flatMap(all)]

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
