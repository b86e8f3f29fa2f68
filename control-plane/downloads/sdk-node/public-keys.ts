/**
 * The keys that a tenant's sessions may be signed with: from a PEM file, from the service's
 * address, or both. What is known is there at once; the network is only waited for where nothing
 * is known yet, or where a token names a key that nobody has seen. What was good stays good while
 * a source fails. A file pins the keys: beside it, nobody on the way may add one, so the address counts
 * over https only, or where it leaves no machine.
 */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { readBounded } from '../../../shared/bounded-text.ts'
import { isLoopbackHost } from '../../../shared/hosts.ts'

export type Keys = ReadonlyMap<string, KeyObject>

interface PublicKeysWorld {
  /** `{base_url}/tenants/<tenant_id>/public-key` */
  readonly url: string | undefined
  /** With one or several PEM public keys. */
  readonly file: string | undefined
  readonly fetch: typeof fetch
  readonly steadyMs: () => number
  readonly onWarning: (message: string) => void
}

const RENEW_MS = 10 * 60_000
const LOOK_GAP_MS = 10_000
const TIMEOUT_MS = 5000
const ANSWER_BYTES_MAX = 64 * 1024

export function createPublicKeys(world: PublicKeysWorld) {
  const { url, file, steadyMs, onWarning } = world
  const closing = new AbortController()
  let keys: Keys | undefined
  let fromFile: Keys = new Map()
  let fromUrl: Keys = new Map()
  let renewedAtMs = -Infinity
  let lookedAtMs = -Infinity
  let pending: Promise<Keys> | undefined

  /** One that was handed in and is set back must not keep the keys of yesterday. */
  const isOver = (sinceMs: number, gapMs: number) => Math.abs(steadyMs() - sinceMs) >= gapMs

  /** One look for all who ask at the same time. */
  function look(isKeyMissing: boolean): Promise<Keys> {
    pending ??= lookAtAll(isKeyMissing).finally(() => {
      renewedAtMs = steadyMs()
      pending = undefined
    })
    return pending
  }

  async function lookAtAll(isKeyMissing: boolean): Promise<Keys> {
    const faults: string[] = []
    if (file !== undefined) fromFile = await attempt(() => readKeyFile(file), fromFile, faults)
    // a file that has all that is asked for needs no network
    const isUrlNeeded = isKeyMissing || fromFile.size === 0 || fromUrl.size > 0
    if (isUrlNeeded) lookedAtMs = steadyMs()
    if (url !== undefined && isUrlNeeded && file !== undefined && !isSafeOnTheWay(url))
      faults.push(
        `new keys from ${url} are ignored because they do not come over https; update ${file} instead`,
      )
    else if (url !== undefined && isUrlNeeded)
      fromUrl = await attempt(() => fetchKeys(url, world.fetch, closing.signal), fromUrl, faults)
    if (faults.length > 0 && !closing.signal.aborted)
      onWarning(`service-node: public keys could not be read: ${faults.join('; ')}`)
    const all = new Map([...fromUrl, ...fromFile])
    if (keys === undefined && all.size === 0) throw new Error(faults.join('; '))
    if (keys === undefined || !areSame(keys, all)) keys = all
    return keys
  }

  return {
    /** The same object until they change; undefined where none were ever loaded. */
    current() {
      if (keys !== undefined && isOver(renewedAtMs, RENEW_MS)) look(false).catch(() => undefined)
      return keys
    },
    /** Waits for the first ones. Rejects where there are none. */
    load() {
      if (keys !== undefined) return Promise.resolve(keys)
      if (pending === undefined && !isOver(lookedAtMs, LOOK_GAP_MS))
        return Promise.reject(new Error('no public keys loaded yet'))
      return look(false)
    },
    /** For a key that is not among them: looks again, at most every ten seconds. */
    lookAgain() {
      if (keys !== undefined && !isOver(lookedAtMs, LOOK_GAP_MS)) return pending ?? keys
      return look(true)
    },
    /** Settles when there are some, however long that takes. */
    async ready() {
      while (keys === undefined && !closing.signal.aborted)
        try {
          await look(false)
        } catch {
          await pause(LOOK_GAP_MS, closing.signal)
        }
    },
    close: () => closing.abort(),
  }
}

function isSafeOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || isLoopbackHost(hostname)
}

function pause(ms: number, closing: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal: closing, ref: false }).catch(() => undefined)
}

async function attempt(read: () => Promise<Keys>, lastGood: Keys, faults: string[]): Promise<Keys> {
  try {
    return await read()
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error))
    return lastGood
  }
}

const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

async function readKeyFile(file: string): Promise<Keys> {
  const blocks = (await readFile(file, 'utf8')).match(PEM) ?? []
  const keys = blocks.map((block) => createPublicKey(block)).filter(isRsa)
  if (keys.length === 0) throw new Error(`${file} contains no RSA public key`)
  return new Map(keys.map((key) => [kidOf(key), key]))
}

async function fetchKeys(url: string, fetchNow: typeof fetch, closing: AbortSignal): Promise<Keys> {
  const answer = await fetchNow(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), closing]),
  })
  const text = await readBounded(answer, ANSWER_BYTES_MAX)
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  const keys = keysOf(JSON.parse(text))
  if (keys.size === 0) throw new Error(`${url} returned no RSA key`)
  return keys
}

/** A key of another kind is not ours to judge, and no reason to do without the rest. */
function keysOf(document: unknown): Keys {
  const { keys } = (document ?? {}) as { keys?: unknown }
  const entries: [string, KeyObject][] = []
  for (const jwk of Array.isArray(keys) ? (keys as Record<string, unknown>[]) : []) {
    const { kty, kid, n, e } = jwk ?? {}
    if (kty !== 'RSA' || typeof kid !== 'string') continue
    if (typeof n !== 'string' || typeof e !== 'string') continue
    entries.push([kid, createPublicKey({ key: { kty, n, e }, format: 'jwk' })])
  }
  return new Map(entries)
}

const isRsa = (key: KeyObject) => key.asymmetricKeyType === 'rsa'

function areSame(a: Keys, b: Keys): boolean {
  return a.size === b.size && [...a].every(([kid, key]) => b.get(kid)?.equals(key) === true)
}

/** The service names its keys by their RFC 7638 thumbprint, so a PEM file needs no names. */
function kidOf(key: KeyObject): string {
  const { n, e } = key.export({ format: 'jwk' })
  return createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')
}
