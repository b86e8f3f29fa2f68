/** The way out of a service, where it holds a password: handed over by systemd. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../command-line/base-url.ts'
import { readProxies, type Proxies } from './proxies.ts'

export const PROXY_CREDENTIAL = 'https-proxy'

/** A proxy's password is in no environment: it comes as a credential. */
export async function proxiesOf(environment: Environment, others: Proxies): Promise<Proxies> {
  const credentials = environment['CREDENTIALS_DIRECTORY']
  if (credentials === undefined) return others
  try {
    const proxy = (await readFile(join(credentials, PROXY_CREDENTIAL), 'utf8')).trim()
    return readProxies({ ...environment, HTTPS_PROXY: proxy, https_proxy: undefined })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return others
    throw error
  }
}
