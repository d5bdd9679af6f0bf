// The routes of the accumulation program: for clients that are entitled to it, and its preview for everybody.
import { programBasket } from './payloads/program-basket.ts'
import { programDeploys } from './payloads/program-deploys.ts'
import { programPerformance } from './payloads/program-performance.ts'
import { programManifest, programPreview } from './payloads/program-preview.ts'
import { programProfile } from './payloads/program-profile.ts'
import { programSimulation } from './payloads/program-simulation.ts'
import { KEYED_BOUNDS, KEYLESS_BOUNDS, profileRequest, simulationRequest } from './program-input.ts'
import { PROGRAM_PATHS } from './program-query.ts'
import type { SignalsRoute } from './signals-route.ts'

/** What is refused of a body. */
const BODY_REFUSALS = ['unsupported_media_type', 'payload_too_large', 'validation_error'] as const

const boundsText = ({ equity_usd, contribution_cadence_bars }: typeof KEYED_BOUNDS): string =>
  `An equity outside of ${equity_usd.join(' to ')} dollars and a cadence outside of ` +
  `${contribution_cadence_bars.join(' to ')} bars are brought to these bounds: \`input\` is what was used, \`meta\` says so.`

export const PROGRAM_ROUTES: readonly SignalsRoute[] = [
  {
    id: 'program',
    method: 'GET',
    path: PROGRAM_PATHS.program,
    access: 'program',
    title: 'The program',
    about: 'The manifest of the accumulation program: its tiers, its window, its costs, and where it stands.',
    data: programManifest,
    isBare: false,
    refusals: ['not_found'],
  },
  {
    id: 'program_basket',
    method: 'GET',
    path: PROGRAM_PATHS.basket,
    access: 'program',
    title: 'Basket',
    about:
      'What the program holds: on its own equity and cadence, or on those of the profile of the client. Without a ' +
      'profile the personal view answers `profile_not_set`.',
    data: programBasket,
    isBare: false,
    refusals: ['not_found', 'profile_not_set', 'validation_error'],
  },
  {
    id: 'program_deploys',
    method: 'GET',
    path: PROGRAM_PATHS.deploys,
    access: 'program',
    title: 'Deployments since a number',
    about: 'Every deployment of the reference basket after `since`, ascending by seq. None ever changes.',
    data: programDeploys,
    isBare: false,
    refusals: ['not_found', 'validation_error'],
  },
  {
    id: 'program_performance',
    method: 'GET',
    path: PROGRAM_PATHS.performance,
    access: 'program',
    title: 'Performance against a benchmark',
    about: 'The reference basket held against what anybody could have done instead.',
    data: programPerformance,
    isBare: false,
    refusals: ['not_found', 'validation_error'],
  },
  {
    id: 'get_profile',
    method: 'GET',
    path: PROGRAM_PATHS.profile,
    access: 'program',
    title: 'The profile',
    about: 'What the personal basket of the client is computed with.',
    data: programProfile,
    isBare: false,
    refusals: ['not_found', 'profile_not_set'],
  },
  {
    id: 'put_profile',
    method: 'PUT',
    path: PROGRAM_PATHS.profile,
    access: 'program',
    title: 'Set the profile',
    about: 'Replaces the whole profile of the client. What lies outside of the bounds is refused.',
    body: profileRequest,
    data: programProfile,
    isBare: false,
    refusals: ['not_found', ...BODY_REFUSALS],
  },
  {
    id: 'program_simulate',
    method: 'POST',
    path: PROGRAM_PATHS.simulate,
    access: 'program',
    title: 'Simulate',
    about: `The program on another equity and cadence. ${boundsText(KEYED_BOUNDS)}`,
    body: simulationRequest,
    data: programSimulation,
    isBare: false,
    refusals: ['not_found', ...BODY_REFUSALS],
  },
  {
    id: 'program_preview',
    method: 'GET',
    path: PROGRAM_PATHS.preview,
    access: 'preview',
    title: 'Preview',
    about: 'The accumulation program in one page, without a key.',
    data: programPreview,
    isBare: false,
    refusals: ['not_found'],
  },
  {
    id: 'preview_simulate',
    method: 'POST',
    path: PROGRAM_PATHS.previewSimulate,
    access: 'preview',
    title: 'Simulate without a key',
    about: `The program on another equity and cadence. ${boundsText(KEYLESS_BOUNDS)}`,
    body: simulationRequest,
    data: programSimulation,
    isBare: false,
    refusals: ['not_found', ...BODY_REFUSALS],
  },
]
