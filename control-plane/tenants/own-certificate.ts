/**
 * The certificate of the control plane's own name: one that is ordered as those of tenants are, or a
 * file that the operator keeps. Looked at by time, so that the next one is shown without a restart,
 * by every control plane, whoever of them has ordered it.
 */
import { createPrivateKey, type X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import type { Vault } from '../keys/vault.ts'
import { findCertificate } from '../store/queries/certificates.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Store } from '../store/store.ts'
import { openCertificate, readCertificate } from './certificates.ts'

const LOOK_MS = 10 * SECOND_MS

interface OwnCertificateWorld {
  readonly hostname: string
  /** Chain and key in one PEM, read anew each time; undefined: it is ordered. */
  readonly readFile?: (() => string) | undefined
  readonly store: Pick<Store, 'read'>
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'error'>
}

export function createOwnCertificate(world: OwnCertificateWorld) {
  const { hostname, readFile, store, vault, clock, log } = world
  let shown: { readonly text: string; readonly context: SecureContext } | undefined
  let lastProblem = ''

  async function find() {
    if (readFile !== undefined) {
      const text = readFile()
      return { cert: text, key: text }
    }
    const row = await findCertificate(store.read, hostname)
    if (row?.tenantId !== CONSOLE_REALM) return undefined
    const { certificatePem: cert, privateKeyPem: key } = openCertificate(row, vault)
    return { cert, key }
  }

  /** What cannot be read leaves the one that is shown as it is. */
  async function look(): Promise<void> {
    try {
      const found = await find()
      if (found === undefined || found.cert === shown?.text) return
      const leaf = readCertificate(found.cert)
      const problem = problemOf(leaf, found.key, hostname, clock.nowMs())
      if (problem !== undefined) throw new Error(problem)
      shown = { text: found.cert, context: createSecureContext(found) }
      lastProblem = ''
      log.info(
        { hostname, not_after: leaf.validToDate.toISOString() },
        'the control plane has a certificate',
      )
    } catch (error) {
      // the text of a failed reading may hold some of what was read
      const reason = error instanceof Error ? error.message.split('\n')[0]?.slice(0, 200) : ''
      if (reason === lastProblem) return
      lastProblem = reason ?? ''
      log.error({ hostname, reason }, 'the certificate of the control plane cannot be used')
    }
  }

  let looking: NodeJS.Timeout | undefined
  return {
    look,
    context: () => shown?.context,
    async start() {
      await look()
      looking = setInterval(() => void look(), LOOK_MS)
      looking.unref()
    },
    close: () => clearInterval(looking),
  }
}

function problemOf(leaf: X509Certificate, key: string, hostname: string, nowMs: number) {
  if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'its private key is another one'
  if (leaf.checkHost(hostname, { subject: 'never' }) === undefined)
    return `it does not name ${hostname}`
  if (leaf.validToDate.getTime() <= nowMs) return 'it has expired'
  return undefined
}
