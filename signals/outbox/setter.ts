// Who sets an endpoint, or changes its settings.

export type Setter = {
  readonly kind: 'key' | 'link' | 'operator'
  /** Of the key; of a link the name of the operator who made it; '' for an operator. */
  readonly id: string
}

export const OPERATOR: Setter = { kind: 'operator', id: '' }

const LINK = 'link:'

/** As it is stored and shown: the id of a key, `link:NAME`, or `operator`. */
export function nameOf({ kind, id }: Setter): string {
  if (kind === 'operator') return kind
  return kind === 'link' ? LINK + id : id
}

/** Of a name as it is stored; that of an operator is also empty. */
export function setterOf(name: string): Setter {
  if (name === '' || name === nameOf(OPERATOR)) return OPERATOR
  return name.startsWith(LINK) ? { kind: 'link', id: name.slice(LINK.length) } : { kind: 'key', id: name }
}
