import type { z } from 'zod'
import { TIER_NAMES, type Tier, type TierName, type TierRule } from '#core/program/program.ts'
import { WEIGHT_TOLERANCE } from '#core/program/program-problems.ts'
import type { Path } from './locate.ts'
import { bandShape, stepShape, tierShapes, tiersShape } from './program-shape.ts'
import { type Fields, reportFields, soundEntries, soundFields, toMap } from './yaml-fields.ts'
import type { YamlFile } from './yaml-file.ts'

/** Days of closes in the mean of the Mayer multiple, by its definition. */
const MAYER_DAYS = 200

const DEFAULT_BANDS = [
  { below: 0.8, spend: 1 },
  { below: 1, spend: 0.5 },
  { below: 1.2, spend: 0.25 },
]

const DEFAULT_STEPS = [
  { drawdown: 0.2, spend: 0.25 },
  { drawdown: 0.35, spend: 0.5 },
  { drawdown: 0.5, spend: 0.75 },
  { drawdown: 0.65, spend: 1 },
]

/** The tiers of a program that says nothing of them. */
export const DEFAULT_TIERS: readonly Tier[] = [
  { tier: 'core', weight: 0.5, rule: { kind: 'always' } },
  { tier: 'cyclical', weight: 0.3, rule: { kind: 'mayer', mean_days: MAYER_DAYS, bands: DEFAULT_BANDS } },
  { tier: 'tactical', weight: 0.2, rule: { kind: 'dips', steps: DEFAULT_STEPS } },
]

/** Reads `tiers`: a tier that is left out gets nothing. Null where something is wrong, which is reported. */
export function readTiers(file: YamlFile, record: Fields): readonly Tier[] | null {
  const path = ['tiers']
  const isSound = reportFields(file, path, record, tiersShape)
  const named = TIER_NAMES.filter(name => record[name] !== undefined && record[name] !== null)
  const tiers = named.map(name => readTier(file, [...path, name], name, record[name]))
  const sound = tiers.filter(tier => tier !== null)
  if (!isSound || sound.length < tiers.length) return null
  const sum = sound.reduce((all, { weight }) => all + weight, 0)
  if (Math.abs(sum - 1) <= WEIGHT_TOLERANCE) return sound
  const told = sound.map(({ tier, weight }) => `${tier} ${weight}`).join(', ') || 'no tier'
  file.report(path, `expected weights that sum to 1, got ${Number(sum.toPrecision(10))} (${told})`)
  return null
}

function readTier(file: YamlFile, path: Path, tier: TierName, value: unknown): Tier | null {
  const record = toMap(file, path, value)
  if (record === null) return null
  const fields = soundFields<{ weight: z.ZodNumber }>(file, path, record, tierShapes[tier])
  const rule = readRule(file, path, tier, record)
  return fields === null || rule === null ? null : { tier, weight: fields.weight, rule }
}

function readRule(file: YamlFile, path: Path, tier: TierName, record: Fields): TierRule | null {
  switch (tier) {
    case 'core':
      return { kind: 'always' }
    case 'cyclical': {
      const at = [...path, 'bands']
      const bands = soundEntries(file, at, record.bands ?? DEFAULT_BANDS, bandShape)
      const isSound = bands !== null && isAscending(file, at, 'below', bands)
      return isSound ? { kind: 'mayer', mean_days: MAYER_DAYS, bands } : null
    }
    case 'tactical': {
      const at = [...path, 'steps']
      const steps = soundEntries(file, at, record.steps ?? DEFAULT_STEPS, stepShape)
      return steps !== null && isAscending(file, at, 'drawdown', steps) ? { kind: 'dips', steps } : null
    }
  }
}

/** The first entry that matches decides, so their order is part of the rule. */
function isAscending<Key extends string>(
  file: YamlFile,
  path: Path,
  key: Key,
  entries: readonly Readonly<Record<Key, number>>[],
): boolean {
  const wrong = entries.findIndex((entry, i) => i > 0 && entry[key] <= entries[i - 1]![key])
  if (wrong === -1) return true
  const [before, now] = [entries[wrong - 1]![key], entries[wrong]![key]]
  file.report([...path, wrong, key], `expected more than ${before} of the entry before, got ${now}`)
  return false
}
