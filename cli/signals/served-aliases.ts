import type { FollowedManifest } from './served-manifest.ts'

/** The strategies of the served dataset, which an alias may be: in catalogue order; none as long as nothing is published. */
export type ServedAliases = () => readonly string[]

/** Follows them. `onError` is told where the store cannot be read; the list then stays as it was. */
export async function followAliases(
  served: Pick<FollowedManifest, 'add'>,
  onError: (error: unknown) => void,
): Promise<ServedAliases> {
  let aliases: readonly string[] = []
  const take = ({ strategies }: { readonly strategies: readonly string[] }): void => {
    aliases = strategies
  }
  await served.add({ take, onError })
  return () => aliases
}
