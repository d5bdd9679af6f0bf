import type { Snapshot } from '#core/dataset/snapshot.ts'
import { INTEGRITY } from '#pages/assets.ts'
import { pageFile, publishedPages } from '#pages/page-routes.ts'

/** The pages of a snapshot by their files, rendered at base risk when they are asked for. */
export const pagesOf = (snapshot: Snapshot): ReadonlyMap<string, () => string> =>
  new Map(
    publishedPages(snapshot.strategies.map(({ id }) => id)).map(({ route, sid }) => [
      pageFile(route, sid),
      () => route.render(snapshot, { sid, risk_pct: null }, INTEGRITY),
    ]),
  )
