/** A list in an order that favours none (Fisher and Yates). `random` gives numbers in [0, 1). */
export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const mixed = [...list]
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const swapped = mixed[i]!
    mixed[i] = mixed[j]!
    mixed[j] = swapped
  }
  return mixed
}
