/** A number as text that sorts as numbers do: `0000000042`. */
export const sortedNumber = (n: number): string => String(n).padStart(10, '0')
