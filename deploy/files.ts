import { renderCanonicalVcl } from './canonical-vcl.ts'
import { renderPointsConf, renderTypesConf } from './points-conf.ts'
import { EXAMPLE_SITE, renderListenConf, renderSiteConf, renderSiteVcl, type Site } from './site.ts'

/** A configuration file that is made: where it lies in `deploy/`, and its text. */
export type MadeFile = { readonly path: string; readonly text: string }

/** Every configuration file that is made and not written by hand, for a site. */
export const madeFiles = (site: Site = EXAMPLE_SITE): MadeFile[] => [
  { path: 'nginx/points.conf', text: renderPointsConf() },
  { path: 'nginx/types.conf', text: renderTypesConf() },
  { path: 'nginx/site.conf', text: renderSiteConf(site) },
  { path: 'nginx/listen.conf', text: renderListenConf(site) },
  { path: 'varnish/canonical.vcl', text: renderCanonicalVcl() },
  { path: 'varnish/site.vcl', text: renderSiteVcl(site) },
]
