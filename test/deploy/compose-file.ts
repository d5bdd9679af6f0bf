import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const PATH = join(import.meta.dirname, '../../deploy/docker/compose.yaml')

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      entrypoint: z.array(z.string()).default(['highwater']),
      command: z.array(z.string()).default([]),
      environment: z.record(z.string(), z.string()).default({}),
      volumes: z.array(z.string()),
      ports: z.array(z.string()).default([]),
      networks: z.object({ default: z.object({ ipv4_address: z.string() }) }).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
  networks: z.object({
    default: z.object({ ipam: z.object({ config: z.tuple([z.record(z.string(), z.string())]) }) }),
  }),
})

/** What the compose file says, with the defaults of the image. */
export const COMPOSE = composeSchema.parse(parse(readFileSync(PATH, 'utf8'), { merge: true }))
