// Requests by route and kind, as cheap as counting can be: a label set that is hashed at every request costs more than the
// answer from memory that it counts. They become text when somebody asks.
import type { Answered, AnswerKind } from './answered.ts'

/** Upper bounds of the histogram in seconds: from a file in memory to an export of a large book. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

type Counts = {
  readonly statuses: Map<number, number>
  /** Answers in each bucket of BOUNDS, and above the last; not cumulative. */
  readonly buckets: Float64Array
  seconds: number
  bytes: number
}

export type RequestCounts = {
  readonly add: (answered: Pick<Answered, 'route' | 'kind' | 'status' | 'ms' | 'bytes'>) => void
  /** In the text format of Prometheus. */
  readonly text: () => string
}

export function createRequestCounts(): RequestCounts {
  const routes = new Map<string, Map<AnswerKind, Counts>>()
  return {
    add({ route, kind, status, ms, bytes }) {
      const counts = countsOf(routes, route, kind)
      const seconds = ms / 1_000
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
      counts.buckets[bucketOf(seconds)]! += 1
      counts.seconds += seconds
      counts.bytes += bytes
    },
    text: () => renderCounts(routes),
  }
}

function countsOf(routes: Map<string, Map<AnswerKind, Counts>>, route: string, kind: AnswerKind): Counts {
  const kinds = routes.get(route) ?? new Map<AnswerKind, Counts>()
  const counts = kinds.get(kind)
  if (counts !== undefined) return counts
  const first = { statuses: new Map(), buckets: new Float64Array(BOUNDS.length + 1), seconds: 0, bytes: 0 }
  routes.set(route, kinds.set(kind, first))
  return first
}

/** Most answers are in the first buckets, so a walk is shorter than a search. */
function bucketOf(seconds: number): number {
  let i = 0
  while (i < BOUNDS.length && seconds > BOUNDS[i]!) i++
  return i
}

function renderCounts(routes: ReadonlyMap<string, ReadonlyMap<AnswerKind, Counts>>): string {
  const all = [...routes].flatMap(([route, kinds]) =>
    [...kinds].map(([kind, counts]) => ({ labels: `route="${route}",kind="${kind}"`, counts })),
  )
  const lines = [
    ...head('highwater_history_requests_total', 'counter', 'Requests by route, kind of answer and status.'),
    ...all.flatMap(({ labels, counts }) =>
      [...counts.statuses].map(
        ([status, count]) => `highwater_history_requests_total{${labels},status="${status}"} ${count}`,
      ),
    ),
    ...head(
      'highwater_history_response_bytes_total',
      'counter',
      'Bytes of bodies by route and kind of answer.',
    ),
    ...all.map(({ labels, counts }) => `highwater_history_response_bytes_total{${labels}} ${counts.bytes}`),
    ...head('highwater_history_request_seconds', 'histogram', 'Time until an answer was ready to be sent.'),
    ...all.flatMap(({ labels, counts }) => renderHistogram(labels, counts)),
  ]
  return `${lines.join('\n')}\n`
}

const head = (name: string, type: string, help: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
]

function renderHistogram(labels: string, { buckets, seconds }: Counts): string[] {
  const name = 'highwater_history_request_seconds'
  let sum = 0
  const lines = [...buckets].map((count, i) => {
    sum += count
    return `${name}_bucket{${labels},le="${BOUNDS[i] ?? '+Inf'}"} ${sum}`
  })
  return [...lines, `${name}_sum{${labels}} ${seconds}`, `${name}_count{${labels}} ${sum}`]
}
