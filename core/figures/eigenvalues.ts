import { dot } from './dot.ts'

/** From the range of all eigenvalues, twice the bound, down to the last place of the bound: a double has 53 binary places. */
const HALVINGS = 54

/** Elements this small against those of a correlation matrix are zeros; their squares would underflow. */
const ZERO_NORM = 1e-100

/** A tridiagonal symmetric matrix: its diagonal, and the elements beside it. */
type Tridiagonal = { readonly diagonal: Float64Array; readonly beside: Float64Array }

/**
 * Eigenvalues of a symmetric matrix, ascending: Householder reflections to tridiagonal form, which has the same ones,
 * then bisection on their count. The error is a few units in the last place of the largest. The matrix is given row by
 * row, finite, symmetric and of the scale of a correlation matrix, and is left as it is.
 *
 * Cost: about `2 n^3` operations; 1 000 in 2 s.
 * Source: Golub and Van Loan, Matrix Computations, 8.3.1 and 8.4.1.
 */
export function symmetricEigenvalues(matrix: Float64Array, size: number): Float64Array {
  const tridiagonal = toTridiagonal(matrix.slice(), size)
  const bound = largestRowSum(tridiagonal)
  return Float64Array.from({ length: size }, (_, rank) => bisect(tridiagonal, rank, bound))
}

/** Reflects row after row of `a`, in place, until only the diagonal and its neighbours are left. */
function toTridiagonal(a: Float64Array, size: number): Tridiagonal {
  const diagonal = new Float64Array(size)
  const beside = new Float64Array(Math.max(size - 1, 0))
  for (let k = 0; k < size; k++) {
    diagonal[k] = a[k * size + k]!
    if (k === size - 1) break
    const v = a.slice(k * size + k + 1, (k + 1) * size)
    const norm = Math.sqrt(dot(v, v))
    beside[k] = v[0]! > 0 ? -norm : norm // the sign that does not cancel in the next line
    v[0] = v[0]! - beside[k]!
    if (norm > ZERO_NORM) reflect(a, size, k + 1, v)
  }
  return { diagonal, beside }
}

/** `H A H` with `H = I - 2 v v' / v'v`, on the square of `a` that begins at row and column `from`. */
function reflect(a: Float64Array, size: number, from: number, v: Float64Array): void {
  const scale = 2 / dot(v, v)
  const w = new Float64Array(v.length)
  for (let i = 0; i < v.length; i++) w[i] = scale * dot(v, rowOf(a, size, from, i))
  const half = (scale / 2) * dot(w, v)
  for (let i = 0; i < v.length; i++) w[i] = w[i]! - half * v[i]!
  for (let i = 0; i < v.length; i++) {
    const row = rowOf(a, size, from, i)
    const vi = v[i]!
    const wi = w[i]!
    for (let j = 0; j < row.length; j++) row[j] = row[j]! - vi * w[j]! - wi * v[j]!
  }
}

const rowOf = (a: Float64Array, size: number, from: number, i: number): Float64Array =>
  a.subarray((from + i) * size + from, (from + i + 1) * size)

/** No eigenvalue is larger in magnitude (Gershgorin). */
function largestRowSum({ diagonal, beside }: Tridiagonal): number {
  let largest = 0
  for (let i = 0; i < diagonal.length; i++) {
    const sum = Math.abs(diagonal[i]!) + Math.abs(beside[i - 1] ?? 0) + Math.abs(beside[i] ?? 0)
    largest = Math.max(largest, sum)
  }
  return largest
}

/** The eigenvalue with `rank` smaller ones. */
function bisect(tridiagonal: Tridiagonal, rank: number, bound: number): number {
  let low = -bound
  let high = bound
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2
    if (countBelow(tridiagonal, middle) > rank) high = middle
    else low = middle
  }
  return (low + high) / 2
}

/** How many eigenvalues lie below `x`: as many as there are negative pivots in `T - x I` (Sylvester). */
function countBelow({ diagonal, beside }: Tridiagonal, x: number): number {
  let count = 0
  let pivot = 1
  for (let i = 0; i < diagonal.length; i++) {
    const neighbour = i === 0 ? 0 : beside[i - 1]!
    pivot = diagonal[i]! - x - (neighbour * neighbour) / pivot
    if (pivot === 0) pivot = Number.MIN_VALUE // 0 / 0 would lose the count
    if (pivot < 0) count++
  }
  return count
}
