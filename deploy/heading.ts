/** The first lines of a file that is made from the contract. */
export const HEADING: readonly string[] = [
  '# Made by `make deploy` from the route table in core/contract: change that, not this file.',
]
