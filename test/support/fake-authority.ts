/**
 * A certificate authority that does what real ones do on bad days: it is busy, it forgets to answer,
 * it wants certificates replaced (RFC 9773). It believes every signature, and everybody's challenge.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { systemClock } from '../../shared/clock.ts'
import {
  BIT_STRING,
  INTEGER,
  OBJECT_ID,
  OCTET_STRING,
  partsOf,
  pem,
  sequence,
  tagged,
} from '../../shared/der.ts'
import { listening } from './wire.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

export interface FakeOrder {
  readonly hostname: string
  readonly replaces: string | undefined
  readonly profile: string | undefined
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  challenges: number
  /** By which it was proven. */
  way?: string
  finalized: number
  certificate: string
}

/** Of the account's list of orders. */
interface ListManner {
  readonly perPage?: number
  readonly isNewestFirst?: boolean
}

interface Refused {
  readonly status: number
  readonly type: string
  readonly retryAfter?: string
}

const NEW_ORDER = { status: 'pending', challenges: 0, finalized: 0, certificate: '' } as const
const DAY_MS = 24 * 3600 * 1000
const oid = (hex: string) => tagged(OBJECT_ID, Buffer.from(hex, 'hex'))
const ECDSA = sequence(oid('2a8648ce3d040302'))

export async function startFakeAuthority(t: Teardown, { nowMs } = systemClock) {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = keys.publicKey.export({ format: 'der', type: 'spki' })
  const keyId = createHash('sha1').update(spki).digest()
  const orders: FakeOrder[] = []
  const requests: string[] = []
  const accounts: unknown[] = []
  let serials = 0
  let lifeMs = 90 * DAY_MS
  /** By hostname, or `*`. */
  const refused = new Map<string, Refused>()
  const issued: string[] = []
  /** Of those that it had issued when it was said. */
  const windows = new Map<string, { start: string; end: string }>()
  let suggests = false
  let mayValidate = true
  let list: ListManner | undefined = {}
  let reuses = false
  let mayFinish = true
  let base = ''
  /** Waited for, before anything is done. */
  let onRequest: (request: string) => Promise<void> = async () => {}
  /** Called with every request that has done its work; false: its answer is lost; or what a proxy says instead. */
  let onAnswer: (request: string) => boolean | number = () => true

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const name = `${request.method} ${request.url}`
      requests.push(name)
      void onRequest(name).then(() => answer(name))
    })

    function answer(name: string) {
      const body = chunks.length === 0 ? undefined : jwsOf(Buffer.concat(chunks).toString())
      const content = answerTo(request.url ?? '', body, response)
      const isHeard = onAnswer(name)
      if (isHeard === false) return void response.destroy()
      if (isHeard !== true) return void response.writeHead(isHeard).end('<h1>Try later</h1>')
      response.setHeader('replay-nonce', randomBytes(16).toString('base64url'))
      if (content === undefined) return void response.end()
      if (typeof content === 'string') return void response.end(content)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(content))
    }
  })
  const port = await listening(server)
  base = `http://127.0.0.1:${port}`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })

  function answerTo(path: string, payload: Payload, response: ServerResponse): unknown {
    const [, what, at = ''] = /^\/([a-z-]+)\/?(.*)$/.exec(path) ?? []
    const order = orders[Number.parseInt(at)]
    const isBusy = refused.get('*')
    if (isBusy !== undefined && what !== 'directory') return refuse(response, isBusy)
    switch (what) {
      case 'directory':
        return {
          newNonce: `${base}/nonce`,
          newAccount: `${base}/new-account`,
          newOrder: `${base}/new-order`,
          ...(suggests && { renewalInfo: `${base}/renewal` }),
          meta: { profiles: { shortlived: 'six days' } },
        }
      case 'nonce':
        return undefined
      case 'new-account': {
        if (accounts.length === 0 && payload?.['onlyReturnExisting'] === true)
          return refuse(response, { status: 400, type: 'accountDoesNotExist' })
        if (accounts.length === 0) accounts.push(payload)
        response.setHeader('location', `${base}/account/1`)
        return { status: 'valid' }
      }
      case 'account':
        return { status: 'valid', ...(list && { orders: `${base}/orders` }) }
      case 'orders':
        return pageOf(Number(at || 0), response)
      case 'new-order': {
        const { identifiers, replaces, profile } = payload as unknown as NewOrder
        const hostname = identifiers[0]?.value ?? ''
        const isRefused = refused.get(hostname)
        if (isRefused !== undefined) return refuse(response, isRefused)
        const isReplaced = replaces !== undefined && orders.some((one) => one.replaces === replaces)
        if (isReplaced) return refuse(response, { status: 409, type: 'alreadyReplaced' })
        // as Boulder does, which keeps no list
        const same = orders.findIndex(
          (one) => one.hostname === hostname && one.status === 'pending',
        )
        if (reuses && same !== -1) {
          response.setHeader('location', `${base}/order/${same}`)
          return viewOf(same)
        }
        orders.push({ ...NEW_ORDER, hostname, replaces, profile })
        response.setHeader('location', `${base}/order/${orders.length - 1}`)
        return viewOf(orders.length - 1)
      }
      case 'order':
        return viewOf(Number(at))
      case 'authorization':
        return {
          status:
            order?.status === 'pending'
              ? 'pending'
              : order?.status === 'invalid'
                ? 'invalid'
                : 'valid',
          challenges: ['http-01', 'dns-01'].map((type) => {
            return { type, url: `${base}/challenge/${at}/${type}`, token: `token-${at}` }
          }),
        }
      case 'challenge':
        if (order?.status !== 'pending') return refuse(response, { status: 400, type: 'malformed' })
        if (order !== undefined) {
          order.challenges += 1
          order.way = at.split('/')[1] ?? ''
          if (mayValidate) order.status = 'ready'
        }
        return {}
      case 'finalize':
        if (order?.status !== 'ready')
          return refuse(response, { status: 403, type: 'orderNotReady' })
        if (order !== undefined) {
          order.finalized += 1
          order.certificate = issue(
            Buffer.from(String(payload?.['csr']), 'base64url'),
            order.hostname,
          )
          order.status = mayFinish ? 'valid' : 'processing'
        }
        return viewOf(Number(at))
      case 'certificate':
        return order?.certificate
      case 'renewal':
        response.setHeader('retry-after', '21600')
        return { suggestedWindow: windows.get(at) ?? windowOf(nowMs() + lifeMs / 2) }
      default:
        return refuse(response, { status: 404, type: 'malformed' })
    }
  }

  function pageOf(page: number, response: ServerResponse) {
    const { perPage = Infinity, isNewestFirst = false } = list ?? {}
    const urls = orders.map((_, index) => `${base}/order/${index}`)
    if (isNewestFirst) urls.reverse()
    const from = page === 0 ? 0 : page * perPage
    if (from + perPage < urls.length)
      response.setHeader('link', `<${base}/orders/${page + 1}>;rel="next"`)
    return { orders: urls.slice(from, from + perPage) }
  }

  function refuse(response: ServerResponse, { status, type, retryAfter }: Refused) {
    response.statusCode = status
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
    return { type: `urn:ietf:params:acme:error:${type}`, detail: `because of ${type}` }
  }

  function viewOf(at: number) {
    const { status, hostname, certificate } = orders[at]!
    return {
      status,
      identifiers: [{ type: 'dns', value: hostname }],
      authorizations: [`${base}/authorization/${at}`],
      finalize: `${base}/finalize/${at}`,
      ...(status === 'valid' && certificate !== '' && { certificate: `${base}/certificate/${at}` }),
    }
  }

  function issue(csr: Buffer, hostname: string): string {
    const [info] = partsOf(partsOf(csr)[0]!.content)
    const asked = partsOf(info!.content)[2]!
    const time = (ms: number) =>
      tagged(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`))
    const extension = (name: string, value: Buffer) =>
      sequence(oid(name), tagged(OCTET_STRING, value))
    // the first bit is set, so that the number has a byte before it
    const serial = Buffer.of(0, 0x87, ...randomBytes(3), ++serials & 255)
    issued.push(`${keyId.toString('base64url')}.${serial.toString('base64url')}`)
    const toBeSigned = sequence(
      tagged(0xa0, tagged(INTEGER, Buffer.of(2))),
      tagged(INTEGER, serial),
      ECDSA,
      sequence(),
      sequence(time(nowMs() - 1000), time(nowMs() - 1000 + lifeMs)),
      sequence(),
      tagged(asked.tag, asked.content),
      tagged(
        0xa3,
        sequence(
          extension('551d23', sequence(tagged(0x80, keyId))),
          extension('551d11', sequence(tagged(0x82, Buffer.from(hostname)))),
        ),
      ),
    )
    const signature = Buffer.concat([Buffer.of(0), sign('sha256', toBeSigned, keys.privateKey)])
    return pem('CERTIFICATE', sequence(toBeSigned, ECDSA, tagged(BIT_STRING, signature)))
  }

  return {
    directory: `${base}/directory`,
    keyId,
    orders,
    accounts,
    /** `POST /new-order`, in the order in which they came. */
    requests,
    /** For this hostname, or for `*`; undefined: no more. */
    refuse(hostname: string, with_: Refused | undefined) {
      if (with_ === undefined) refused.delete(hostname)
      else refused.set(hostname, with_)
    },
    /** When it wants those replaced that it has issued; before that it says nothing of any. */
    suggest(start: number, end: number) {
      suggests = true
      for (const id of issued) windows.set(id, windowOf(start, end))
    },
    /** Undefined: it keeps no list of orders, and hands out again what is pending, if it does that. */
    lists(manner: ListManner | undefined, { handsOutAgain = true } = {}) {
      list = manner
      reuses = manner === undefined && handsOutAgain
    },
    /** Those of hostnames that were ordered for before. */
    hasOrdered(hostnames: readonly string[]) {
      for (const hostname of hostnames)
        orders.push({ ...NEW_ORDER, hostname, replaces: undefined, profile: undefined })
    },
    validates: (may: boolean) => void (mayValidate = may),
    finishes(may: boolean) {
      mayFinish = may
      for (const order of orders) if (may && order.status === 'processing') order.status = 'valid'
    },
    issuesFor: (ms: number) => void (lifeMs = ms),
    onRequest: (next: typeof onRequest) => void (onRequest = next),
    onAnswer: (next: typeof onAnswer) => void (onAnswer = next),
  }
}

const windowOf = (startMs: number, endMs = startMs + DAY_MS) => ({
  start: new Date(startMs).toISOString(),
  end: new Date(endMs).toISOString(),
})

type Payload = Readonly<Record<string, unknown>> | undefined

interface NewOrder {
  readonly identifiers: readonly { readonly value: string }[]
  readonly replaces?: string
  readonly profile?: string
}

function jwsOf(text: string): Payload {
  const { payload } = JSON.parse(text) as { payload: string }
  if (payload === '') return undefined
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload
}
