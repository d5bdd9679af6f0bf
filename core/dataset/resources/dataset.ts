import { bookLinks, type Resource } from './resource.ts'

/** `/v1/dataset`: what the dataset is made of. */
export const dataset: Resource = (snapshot, params) => {
  const { version, name, window, engine, data_source, methodology_url } = snapshot.dataset
  const { embargo_days, history_restated } = snapshot.dataset
  return {
    data: {
      version,
      generated_utc: version,
      history_restated,
      name,
      window,
      strategy_count: snapshot.strategies.length,
      engine,
      data_source,
      methodology_url,
      embargo_days,
      strategies: snapshot.strategies.map(({ id, name, verification_state }) => ({
        id,
        name,
        verification_state,
      })),
    },
    meta: {},
    links: bookLinks('dataset', params),
  }
}
