/**
 * The keys that a tenant's sessions may be signed with: from a PEM file, from the service's
 * address, or both. During a rotation there are two; a new one is fetched when it first appears.
 */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'

export interface PublicKeysOptions {
  /** `{base_url}/tenants/<tenant_id>/public-key` */
  readonly url?: string
  /** A file with one or several PEM public keys. */
  readonly file?: string
  readonly fetch?: typeof fetch
  readonly nowMs?: () => number
}

export interface PublicKeys {
  /** What is accepted now. Loads on first use; later failures keep the last good keys. */
  current(): Promise<ReadonlyMap<string, KeyObject>>
  /** After a token with an unknown key: asks again, at most every ten seconds. */
  refresh(): Promise<ReadonlyMap<string, KeyObject>>
}

const KEPT_MS = 10 * 60_000
const REFRESH_GAP_MS = 10_000
const TIMEOUT_MS = 5000
const ANSWER_BYTES_MAX = 64 * 1024

export function createPublicKeys(options: PublicKeysOptions): PublicKeys {
  if (options.url === undefined && options.file === undefined)
    throw new TypeError('verifyClaims: give publicKeyFile, or baseUrl and tenantId')
  const nowMs = options.nowMs ?? Date.now
  let keys: ReadonlyMap<string, KeyObject> | undefined
  let loadedAtMs = -Infinity
  let pending: Promise<ReadonlyMap<string, KeyObject>> | undefined

  /** One load for all who ask at the same time. */
  function load(): Promise<ReadonlyMap<string, KeyObject>> {
    pending ??= loadAll(options)
      .then((loaded) => (keys = loaded))
      .catch((error: unknown) => {
        if (keys === undefined) throw error
        return keys
      })
      .finally(() => {
        loadedAtMs = nowMs()
        pending = undefined
      })
    return pending
  }

  return {
    async current() {
      return keys !== undefined && nowMs() - loadedAtMs < KEPT_MS ? keys : load()
    },
    async refresh() {
      return keys !== undefined && nowMs() - loadedAtMs < REFRESH_GAP_MS ? keys : load()
    },
  }
}

async function loadAll(options: PublicKeysOptions): Promise<ReadonlyMap<string, KeyObject>> {
  const keys = new Map<string, KeyObject>()
  if (options.file !== undefined)
    for (const key of readPems(await readFile(options.file, 'utf8'))) keys.set(kidOf(key), key)
  if (options.url !== undefined)
    for (const [kid, key] of await fetchKeys(options.url, options.fetch ?? fetch))
      keys.set(kid, key)
  if (keys.size === 0) throw new Error('there is no public key yet: publish the tenant first')
  return keys
}

function readPems(text: string): KeyObject[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[\s\S]+?-----END PUBLIC KEY-----/g) ?? []
  return blocks.map((block) => createPublicKey(block))
}

async function fetchKeys(url: string, fetchNow: typeof fetch): Promise<[string, KeyObject][]> {
  const answer = await fetchNow(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  const text = await answer.text()
  if (text.length > ANSWER_BYTES_MAX) throw new Error(`${url} answered too much`)
  const { keys } = JSON.parse(text) as {
    keys: { kty: string; n: string; e: string; kid: string }[]
  }
  return keys.map(({ kty, n, e, kid }) => [
    kid,
    createPublicKey({ key: { kty, n, e }, format: 'jwk' }),
  ])
}

/** The service names its keys by their RFC 7638 thumbprint, so a PEM file needs no names. */
function kidOf(key: KeyObject): string {
  const { n, e } = key.export({ format: 'jwk' })
  return createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')
}
