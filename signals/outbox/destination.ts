// What deliveries are keyed by. Ids of clients and names of endpoints have no `/`, and the endpoint `default` is named as its client
// is: the records of earlier releases, which have one webhook a client, are those of destinations.

/** `acme` is the endpoint `default` of the client acme, `acme/backup` another one. */
export type Destination = string

/** The webhook of `PUT /v1/webhook`. */
export const DEFAULT_ENDPOINT = 'default'

/** Endpoints of a client, the default one included. */
export const MOST_ENDPOINTS = 5

export const destinationOf = (client: string, endpoint: string): Destination =>
  endpoint === DEFAULT_ENDPOINT ? client : `${client}/${endpoint}`

export const clientOf = (destination: Destination): string => destination.split('/', 1)[0]!

export const endpointOf = (destination: Destination): string =>
  destination === clientOf(destination)
    ? DEFAULT_ENDPOINT
    : destination.slice(clientOf(destination).length + 1)

/** The keyed route that sets its address. */
export const routeOf = (destination: Destination): string =>
  destination === clientOf(destination) ? '/v1/webhook' : `/v1/endpoints/${endpointOf(destination)}`

/** How the operator names it to a command: `acme`, `acme --endpoint backup`. */
export const argumentsOf = (destination: Destination): string => destination.replace('/', ' --endpoint ')
