/** Rows under one another: the first cell of each at the left, the others at the right. */
export const toTable = (
  rows: readonly (readonly string[])[],
  firstWidth: number,
  cellWidth: number,
): string[] =>
  rows.map(([name = '', ...cells]) =>
    [name.padEnd(firstWidth), ...cells.map(cell => cell.padStart(cellWidth))].join(''),
  )

/** A figure with two decimals; `-` for none. */
export const twoDecimals = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : '-')
