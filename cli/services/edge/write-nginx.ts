import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  renderDeprecationConf,
  renderListenConf,
  renderProxiesConf,
  renderSiteConf,
  renderTlsConf,
  type Site,
} from './site.ts'

/** Writes the configuration of nginx for a site, with the script that runs it, into a folder. `root` is that of the project. */
export async function writeNginx(root: string, folder: string, site: Site): Promise<void> {
  await cp(join(root, 'deploy/nginx'), folder, { recursive: true })
  const { tls } = site
  const files = {
    'listen.conf': renderListenConf(site),
    'site.conf': renderSiteConf(site),
    'deprecation.conf': renderDeprecationConf(site),
    'proxies.conf': renderProxiesConf(site),
    'tls.conf': tls === null ? '' : renderTlsConf({ ...site, tls }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}
