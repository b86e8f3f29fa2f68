/**
 * The protocol of RFC 8555 with one authority, call by call: what has been done so far is its
 * caller's to keep. Every request is signed with a nonce of its own; one that the authority does not
 * take is replaced by that of its answer (section 6.5).
 */
import { type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from 'jose'
import { Agent, request } from 'undici'
import * as v from 'valibot'
import { DAY_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { retryAfterMs } from '../../shared/retry-after.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { createOrderList } from './order-list.ts'
import { AcmeProblem, problemOf } from './problem.ts'

/** How an authority knows whose account it is (section 7.3.4). */
export interface ExternalAccount {
  readonly keyId: string
  readonly hmacKey: string
}

interface AcmeClientWorld {
  readonly directory: string
  /** Of P-256: it is the account. */
  readonly key: KeyObject
  readonly email: string | null
  readonly externalAccount?: ExternalAccount | undefined
  /** As the authority names it (draft-ietf-acme-profiles); one that it does not offer is left out. */
  readonly profile: string | null
  readonly nowMs: () => number
  readonly signal: AbortSignal
  /** Beside those of Node and NODE_EXTRA_CA_CERTS. */
  readonly ca?: string | undefined
  readonly tracing?: Pick<Tracing, 'span'> | undefined
}

const address = v.pipe(v.string(), v.url())
const DirectorySchema = v.object({
  newNonce: address,
  newAccount: address,
  newOrder: address,
  renewalInfo: v.optional(address),
  meta: v.optional(
    v.object({
      externalAccountRequired: v.optional(v.boolean()),
      profiles: v.optional(v.record(v.string(), v.unknown())),
    }),
    {},
  ),
})
const OrderSchema = v.object({
  status: v.picklist(['pending', 'ready', 'processing', 'valid', 'invalid']),
  identifiers: v.array(v.object({ type: v.string(), value: v.string() })),
  authorizations: v.array(address),
  finalize: address,
  certificate: v.optional(address),
  error: v.optional(v.unknown()),
})
const AuthorizationSchema = v.object({
  status: v.picklist(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  challenges: v.array(
    v.object({
      type: v.string(),
      token: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,512}$/))),
      url: v.optional(address),
      status: v.optional(v.string()),
      error: v.optional(v.unknown()),
    }),
  ),
})
const RenewalSchema = v.object({
  suggestedWindow: v.object({
    start: v.pipe(v.string(), v.isoTimestamp()),
    end: v.pipe(v.string(), v.isoTimestamp()),
  }),
})
const AccountSchema = v.object({ orders: v.optional(address) })
const OrdersSchema = v.object({ orders: v.array(address) })

export type Order = v.InferOutput<typeof OrderSchema>
type Authorization = v.InferOutput<typeof AuthorizationSchema>
/** What was asked for, and when to ask again, if that was said. */
export type Waiting<T> = T & { readonly retryAfterMs: number | undefined }

interface Answer {
  readonly status: number
  readonly text: string
  readonly location: string
  readonly next: string | undefined
  readonly retryAfterMs: number | undefined
}

/** With so many of a hundred nonces refused as a test's authority does, nobody is refused for good. */
const NONCE_TRIES = 10
const NONCES_KEPT_MAX = 16

export type AcmeClient = ReturnType<typeof createAcmeClient>

/** What HTTP-01 and DNS-01 answer with: by it the authority knows whose account asked. */
export async function thumbprintOf(key: KeyObject): Promise<string> {
  return calculateJwkThumbprint(await publicJwkOf(key))
}

/** RFC 8555 section 6.2: without anything that is private. */
async function publicJwkOf(key: KeyObject): Promise<JWK> {
  const { kty, crv, x, y } = await exportJWK(key)
  return { kty, crv, x, y } as JWK
}

export function createAcmeClient(world: AcmeClientWorld) {
  const { key, email, externalAccount, profile, nowMs, signal, ca } = world
  const agent = new Agent({
    connect: { timeout: LIMITS.acmeRequestMsMax, ...(ca !== undefined && { ca }) },
    maxResponseSize: LIMITS.acmeAnswerBytesMax,
  })
  const nonces: string[] = []
  const directory = kept(nowMs, async () =>
    parse(DirectorySchema, await send(world.directory, { method: 'GET' })),
  )
  const account = kept(nowMs, openAccount)

  /** `untilMs`: it is not sent later, whatever has kept it. */
  type Manner = { readonly accept?: string; readonly untilMs?: number }
  type Sent = { method: 'GET' | 'HEAD' | 'POST'; body?: string; accept?: string }

  async function send(url: string, sent: Sent): Promise<Answer> {
    if (world.tracing === undefined) return sendNow(url, sent)
    const attributes = { to: 'acme', 'server.address': URL.parse(url)?.host ?? '' }
    return world.tracing.span('outgoing', { kind: 'client', attributes }, async (span) => {
      const answer = await sendNow(url, sent)
      span.set('http.response.status_code', answer.status)
      return answer
    })
  }

  async function sendNow(url: string, { method, body, accept }: Sent): Promise<Answer> {
    const headers = {
      'user-agent': 'Service-ACME/1',
      ...(accept !== undefined && { accept }),
      ...(body !== undefined && { 'content-type': 'application/jose+json' }),
    }
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(LIMITS.acmeRequestMsMax)])
    try {
      const answer = await request(url, {
        method,
        headers,
        signal: deadline,
        dispatcher: agent,
        ...(body !== undefined && { body }),
      })
      const header = (name: string) => {
        const value = answer.headers[name]
        return typeof value === 'string' ? value : undefined
      }
      const nonce = header('replay-nonce')
      if (nonce !== undefined && nonces.length < NONCES_KEPT_MAX) nonces.push(nonce)
      const read = {
        status: answer.statusCode,
        text: await answer.body.text(),
        location: header('location') ?? '',
        next: nextIn(answer.headers['link'], url),
        retryAfterMs: retryAfterMs(header('retry-after'), nowMs()),
      }
      if (read.status < 400) return read
      throw problemOf(contentOf(read.text), read)
    } catch (error) {
      if (error instanceof AcmeProblem) throw error
      const { code, name, message } = error as NodeJS.ErrnoException
      throw new AcmeProblem(name === 'TimeoutError' ? 'no answer in time' : (code ?? message))
    }
  }

  const fetchNonce = async () => send((await directory()).newNonce, { method: 'HEAD' })

  async function takeNonce(): Promise<string> {
    const known = nonces.pop()
    if (known !== undefined) return known
    await fetchNonce()
    const fresh = nonces.pop()
    if (fresh === undefined) throw new AcmeProblem('no nonce was given')
    return fresh
  }

  /** `payload` undefined: only asked, nothing changed (POST-as-GET, section 6.3). */
  async function post(
    url: string,
    payload: object | undefined,
    by: { jwk: JWK } | { kid: string },
    { accept, untilMs = Infinity }: Manner = {},
  ): Promise<Answer> {
    const bytes = payload === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(payload))
    for (let tries = 1; ; tries++) {
      const signed = await new FlattenedSign(bytes)
        .setProtectedHeader({ alg: 'ES256', nonce: await takeNonce(), url, ...by })
        .sign(key)
      if (nowMs() > untilMs) throw new AcmeProblem('it could not be asked in time')
      try {
        const body = JSON.stringify(signed)
        return await send(url, { method: 'POST', body, ...(accept !== undefined && { accept }) })
      } catch (error) {
        const isStale = error instanceof AcmeProblem && error.type === 'badNonce'
        if (!isStale || tries === NONCE_TRIES) throw error
        // those that lie here are older than the one that came with this answer
        nonces.splice(0, nonces.length - 1)
      }
    }
  }

  const ask = async (url: string, payload?: object, manner?: Manner) =>
    post(url, payload, { kid: await account() }, manner)

  /** The account of this key, wherever it was made; one is made where there is none. */
  async function openAccount(): Promise<string> {
    const { newAccount, meta } = await directory()
    const jwk = await publicJwkOf(key)
    try {
      return (await post(newAccount, { onlyReturnExisting: true }, { jwk })).location
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.type !== 'accountDoesNotExist') throw error
    }
    if (meta.externalAccountRequired === true && externalAccount === undefined)
      throw problemOf({ type: 'urn:ietf:params:acme:error:externalAccountRequired' })
    const made = await post(
      newAccount,
      {
        termsOfServiceAgreed: true,
        ...(email !== null && { contact: [`mailto:${email}`] }),
        ...(externalAccount && {
          externalAccountBinding: await bound(jwk, externalAccount, newAccount),
        }),
      },
      { jwk },
    )
    return made.location
  }

  const readOrder = (answer: Answer): Waiting<Order> => ({
    ...parse(OrderSchema, answer),
    retryAfterMs: answer.retryAfterMs,
  })

  /** A list may be told of and not be kept, and one of its orders be over, and forgotten. */
  async function ifThere<T>(look: () => Promise<T>): Promise<T | undefined> {
    try {
      return await look()
    } catch (error) {
      if (error instanceof AcmeProblem && !error.isBusy) return undefined
      throw error
    }
  }

  const list = createOrderList({
    first: async () => parse(AccountSchema, await ask(await account())).orders,
    page: (url) =>
      ifThere(async () => {
        const answer = await ask(url)
        return { urls: parse(OrdersSchema, answer).orders, next: answer.next }
      }),
    order: (url) => ifThere(async () => readOrder(await ask(url))),
    nowMs,
  })

  return {
    /** The address of the account; with it, that the authority answers. */
    async account(): Promise<string> {
      const url = await account()
      await fetchNonce()
      return url
    },

    /**
     * `replaces`: the certificate that the new one is for (RFC 9773 section 5). `untilMs`: when others
     * may take it that nothing is sent any more.
     */
    async newOrder(hostname: string, replaces: string | null, untilMs: number) {
      const { newOrder, renewalInfo, meta } = await directory()
      const wanted = {
        identifiers: [{ type: 'dns', value: hostname }],
        ...(replaces !== null && renewalInfo !== undefined && { replaces }),
        ...(profile !== null && meta.profiles?.[profile] !== undefined && { profile }),
      }
      const answer = await ask(newOrder, wanted, { untilMs })
      return { url: parse(address, answer, answer.location), order: readOrder(answer) }
    },

    order: async (url: string) => readOrder(await ask(url)),

    /**
     * An order for this name that is under way and was never heard of: whoever asked for it, before
     * this time, was gone before the answer. Authorities that keep no list mostly hand out the same
     * order again by themselves.
     */
    orderUnderWay: list.find,

    async authorization(url: string): Promise<Waiting<Authorization>> {
      const answer = await ask(url)
      return { ...parse(AuthorizationSchema, answer), retryAfterMs: answer.retryAfterMs }
    },

    /** That it may look at our answer now. */
    challenge: async (url: string) => void (await ask(url, {})),

    async finalize(url: string, csr: Buffer): Promise<Waiting<Order>> {
      return readOrder(await ask(url, { csr: csr.toString('base64url') }))
    },

    async certificate(url: string): Promise<string> {
      return (await ask(url, undefined, { accept: 'application/pem-certificate-chain' })).text
    },

    /** When it wants one of its certificates replaced; undefined: it never says so. */
    async renewal(renewalId: string) {
      const { renewalInfo } = await directory()
      if (renewalInfo === undefined) return undefined
      const answer = await send(`${renewalInfo.replace(/\/$/, '')}/${renewalId}`, { method: 'GET' })
      const { start, end } = parse(RenewalSchema, answer).suggestedWindow
      const [startMs, endMs] = [Date.parse(start), Date.parse(end)]
      return { startMs, endMs: Math.max(startMs, endMs), retryAfterMs: answer.retryAfterMs }
    },

    /** What is kept of the authority may be over: its addresses, and the account. */
    forget() {
      directory.forget()
      account.forget()
    },

    close: () => agent.destroy(),
  }
}

/** One answer for all who ask within a day, which one that fails is not. */
function kept<T>(nowMs: () => number, find: () => Promise<T>) {
  let known: { readonly found: Promise<T>; readonly untilMs: number } | undefined
  const forget = () => void (known = undefined)
  function ask(): Promise<T> {
    if (known !== undefined && known.untilMs > nowMs()) return known.found
    const asked = { found: find(), untilMs: nowMs() + DAY_MS }
    known = asked
    asked.found.catch(() => known === asked && forget())
    return asked.found
  }
  return Object.assign(ask, { forget })
}

async function bound(jwk: JWK, { keyId, hmacKey }: ExternalAccount, url: string) {
  return new FlattenedSign(Buffer.from(JSON.stringify(jwk)))
    .setProtectedHeader({ alg: 'HS256', kid: keyId, url })
    .sign(Buffer.from(hmacKey, 'base64url'))
}

function contentOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  { text, status }: Answer,
  content: unknown = contentOf(text),
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, content)
  if (result.success) return result.output
  throw new AcmeProblem('the answer of the certificate authority cannot be read', {
    status: status < 500 ? 502 : status,
  })
}

/** RFC 8288, as far as ACME uses it. */
function nextIn(header: string | string[] | undefined, base: string): string | undefined {
  for (const link of [header ?? []].flat().flatMap((one) => one.split(/,\s*(?=<)/))) {
    const target = /^<([^>]*)>.*;\s*rel="?next"?/.exec(link)?.[1]
    if (target !== undefined && URL.canParse(target, base)) return new URL(target, base).href
  }
  return undefined
}
