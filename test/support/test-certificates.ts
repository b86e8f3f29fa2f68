/** Certificates made by OpenSSL when they are needed: no key lies in the repository. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TenantSnapshot } from '../../shared/fleet/snapshot.ts'

export type TestCertificate = TenantSnapshot['certificates'][number]

export interface TestAuthority {
  readonly caPem: string
  issue(hostname: string, alternatives?: readonly string[]): TestCertificate
}

interface Teardown {
  teardown(close: () => unknown): void
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30']

export function createTestAuthority(t: Teardown): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  const openssl = (args: readonly string[]) =>
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ca = ['-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', '/CN=Test CA']
  openssl(['req', '-x509', ...EC, ...ca, '-addext', 'basicConstraints=critical,CA:TRUE'])
  let count = 0
  return {
    caPem: readFileSync(at('ca.pem'), 'utf8'),
    issue(hostname, alternatives = []) {
      const name = `leaf-${++count}`
      const [key, request, leaf] = [at(`${name}.key`), at(`${name}.csr`), at(`${name}.pem`)]
      openssl(['req', ...EC, '-keyout', key, '-out', request, '-subj', `/CN=${name}`])
      const names = [hostname, ...alternatives].map((host) => `DNS:${host}`).join()
      writeFileSync(at(`${name}.ext`), `subjectAltName=${names}\n`)
      const signer = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-set_serial', String(count + 1)]
      const extensions = ['-days', '30', '-extfile', at(`${name}.ext`)]
      openssl(['x509', '-req', '-in', request, '-out', leaf, ...signer, ...extensions])
      return {
        hostname,
        certificate_pem: readFileSync(leaf, 'utf8'),
        private_key_pem: readFileSync(key, 'utf8'),
      }
    },
  }
}

let common: TestAuthority | undefined

/** For whoever only wants to be trusted: five calls of a program are most of what a small test costs. */
export const commonAuthority = () =>
  (common ??= createTestAuthority({ teardown: (work) => void process.once('exit', work) }))

const issued = new Map<string, TestCertificate>()

/** One for each name, or for the same names, of that authority. */
export const commonCertificate = (hostname: string, alternatives: readonly string[] = []) =>
  issued.getOrInsertComputed([hostname, ...alternatives].join(), () =>
    commonAuthority().issue(hostname, alternatives),
  )
