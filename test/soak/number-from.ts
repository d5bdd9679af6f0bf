/** A number of the environment, above 0. */
export function numberFrom(name: string, fallback: number): number {
  const value = Number(process.env[name] || fallback)
  if (value > 0) return value
  throw new Error(`${name}: expected a number above 0, got '${process.env[name]}'`)
}
