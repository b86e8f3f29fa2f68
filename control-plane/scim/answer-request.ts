/**
 * The life of a SCIM request: whose token it is, how often its tenant may ask, what is meant by path
 * and method, and an answer or an error in SCIM's own words. Read this first.
 */
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { describeError } from '../../shared/log.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import { addressRates } from '../http/address-rates.ts'
import { bearerOf } from '../http/bearer.ts'
import { readBytes } from '../http/body.ts'
import { addressOf, type ApiContext } from '../http/context.ts'
import { parseStrictJson } from '../http/strict-json.ts'
import { isHangUp } from '../listener/hang-up.ts'
import { noteGood } from '../listener/known-credentials.ts'
import type { Answer, Asked, Requests } from './asked.ts'
import { discovered } from './discovery.ts'
import { groupRequests } from './group-requests.ts'
import type { ScimGroups } from './groups.ts'
import type { ScimPeople } from './people.ts'
import { personRequests } from './person-requests.ts'
import type { ScimRequestLog } from './request-log.ts'
import { isEverywhere } from '../store/enforced.ts'
import { asScimError, errorBody, ScimError } from './scim-error.ts'
import type { ScimToken, ScimTokens } from './tokens.ts'

interface ScimWorld {
  readonly scimTokens: Pick<ScimTokens, 'find'>
  readonly scimPeople: ScimPeople
  readonly scimGroups: ScimGroups
  readonly scimLog: Pick<ScimRequestLog, 'note'>
  readonly rates: RateLimits
  readonly baseUrl: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'error'>
}

export const SCIM_PATH = '/scim/v2/:tenant_id/*'

export const scimBaseOf = (baseUrl: string, tenantId: string) => `${baseUrl}/scim/v2/${tenantId}`

export function answerScim(world: ScimWorld) {
  const { scimTokens, scimLog, rates, clock } = world
  const ofStrangers = addressRates(rates)
  const collections: ReadonlyMap<string, Requests> = new Map([
    ['users', personRequests(world)],
    ['groups', groupRequests(world)],
  ])

  async function requireToken(c: ApiContext, tenantId: string): Promise<ScimToken> {
    const shown = bearerOf(c)
    const token = shown === undefined ? undefined : await scimTokens.find(tenantId, shown)
    if (token !== undefined) return token
    ofStrangers.take('refused', addressOf(c), LIMITS.rateRefused)
    throw new ScimError(
      401,
      'This token is missing, wrong, expired or revoked, or it is for another tenant. Create one on the page Provisioning of the console.',
    )
  }

  async function answer(c: ApiContext, asked: Asked, rest: readonly string[]): Promise<Answer> {
    const [name = '', id, ...further] = rest
    const { method } = c.req
    const collection = name.toLowerCase()
    const requests = collections.get(collection)
    if (further.length > 0) throw notThere()
    if (requests === undefined) {
      const body = discovered(collection, id, asked.base)
      if (body === undefined) throw notThere()
      if (method !== 'GET') throw notAllowed('GET')
      return { status: 200, body }
    }
    if (id === undefined) {
      if (method === 'GET') return requests.list(asked)
      if (method === 'POST') return requests.create(asked)
      throw notAllowed('GET and POST')
    }
    if (method === 'GET') return requests.get(asked, id)
    if (method === 'PUT') return requests.replace(asked, id)
    if (method === 'PATCH') return requests.patch(asked, id)
    if (method === 'DELETE') return requests.remove(asked, id)
    throw notAllowed('GET, PUT, PATCH and DELETE')
  }

  return async (c: ApiContext): Promise<Response> => {
    const { tenant_id: tenantId = '' } = c.req.param() as { tenant_id?: string }
    const requestId = c.get('requestId')
    const rest = restOf(c.req.path)
    let token: ScimToken | undefined
    let said: { status: number; detail: string } = { status: 200, detail: '' }
    try {
      token = await requireToken(c, tenantId)
      rates.take('scim', tenantId, LIMITS.rateScim)
      noteGood(c.env?.incoming)
      const base = scimBaseOf(world.baseUrl, tenantId)
      const asked = askedOf(c, token, base, async (bytes) => {
        const cost = costOf(bytes)
        if (cost > 0) rates.take('scim', tenantId, LIMITS.rateScim, cost)
        await requireToken(c, tenantId) // a body may have taken its time
      })
      const answered = await answer(c, asked, rest)
      said = { status: answered.status, detail: detailOf(answered) }
      return sent(c, answered)
    } catch (error) {
      const refused = refusalOf(c, error as Error)
      said = { status: refused.status, detail: refused.detail }
      return sentError(c, refused, error as Error)
    } finally {
      if (token !== undefined && said.status !== 429)
        scimLog.note({
          ...{ tenantId, at: clock.nowMs(), method: c.req.method, path: pathOf(c, rest) },
          ...{ ...said, tokenId: token.tokenId, requestId },
        })
    }
  }

  function refusalOf(c: ApiContext, error: Error): ScimError {
    if (error instanceof ScimError) return error
    if (error instanceof Refusal) return asScimError(error)
    if (!isHangUp(error, c.env?.incoming))
      world.log.error(
        { error: describeError(error), request_id: c.get('requestId'), path: c.req.path },
        'request failed',
      )
    return asScimError(new Refusal('internal'))
  }
}

/** What the log says beside the answer. */
function detailOf({ ignored = [], enforced }: Answer): string {
  const isLate = enforced !== undefined && !isEverywhere(enforced)
  return [
    ...(ignored.length > 0 ? [`Not kept: ${ignored.join(', ')}.`] : []),
    ...(isLate ? ['Some gateways have not confirmed yet that they refuse these sessions.'] : []),
  ].join(' ')
}

const notThere = () =>
  new ScimError(
    404,
    'Nothing was found at this address. The base address ends in /scim/v2/ and the tenant ID; users are at /Users below it, groups at /Groups.',
  )

const notAllowed = (methods: string) => new ScimError(405, `Use ${methods} here.`)

/** Behind the tenant: `Users`, and an id. */
function restOf(path: string): string[] {
  const [, , , , ...rest] = path.split('/')
  return rest.map(decoded).filter((part, at, all) => part !== '' || at < all.length - 1)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** With the filter: whoever looks for a mistake looks for that. */
function pathOf(c: ApiContext, rest: readonly string[]): string {
  const filter = c.req.query('filter')
  return `/${rest.join('/')}${filter === undefined ? '' : `?filter=${filter}`}`
}

/** Beside the one that the request has taken. Half of a bucket at most, or it would never be taken. */
function costOf(bytes: number): number {
  const requests = Math.ceil(bytes / LIMITS.scimBytesPerRequest)
  return Math.min(requests, Math.floor(LIMITS.rateScim.burst / 2)) - 1
}

function askedOf(
  c: ApiContext,
  token: ScimToken,
  base: string,
  onRead: (bytes: number) => Promise<void>,
): Asked {
  return {
    token,
    actor: { name: `scim:${token.tokenId}`, requestId: c.get('requestId') },
    base,
    query: (name) => c.req.queries(name)?.at(-1),
    async body() {
      const bytes = await readBytes(c, LIMITS.scimBodyBytesMax)
      if (!isJson(c.req.header('content-type'))) throw new Refusal('media_type_unsupported')
      await onRead(bytes.length)
      const value = parseStrictJson(bytes, false, LIMITS.scimValuesMax)
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new ScimError(400, 'The body must be a JSON object.', 'invalidSyntax')
      return value as Readonly<Record<string, unknown>>
    },
  }
}

const isJson = (contentType = '') =>
  /^application\/(?:scim\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(contentType)

const MEDIA_TYPE = 'application/scim+json'

function sent(c: ApiContext, { status, body, location }: Answer): Response {
  const headers = {
    ...(body !== undefined && { 'Content-Type': MEDIA_TYPE }),
    ...(location !== undefined && { Location: location }),
  }
  const text = body === undefined ? null : JSON.stringify(body)
  return c.newResponse(text, status as 200, headers)
}

function sentError(c: ApiContext, refused: ScimError, error: Error): Response {
  const retryAfter = error instanceof Refusal ? error.fields['retry_after'] : undefined
  const headers = {
    'Content-Type': MEDIA_TYPE,
    ...(typeof retryAfter === 'number' && { 'Retry-After': String(retryAfter) }),
    ...(refused.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
  }
  return c.body(JSON.stringify(errorBody(refused)), refused.status as 400, headers)
}
