/**
 * Every endpoint of the API is declared once. The route is mounted from its declaration: the caller
 * is let in, path, query and body are read by it. The OpenAPI document, its page and the walk of
 * bad input (test/control-plane/api/bad-input.test.ts) are made of the same declaration. To add one:
 *
 *     const client = endpointsOf('enforcement', 'client') // then c.var.tenant and c.var.actor are set
 *
 *     export function feedEndpoints({ feed }: ApiWorld): readonly Endpoint[] {
 *       return [
 *         client.post('/api/v1/enforcement/events', { // whole; parameters as {tenant_id}
 *           summary: 'Takes what the middleware has enforced.',
 *           body: EventsBody, // a strictObject; a message completes «"field" must be …»
 *           example: { events: [{ outcome: 'sealed' }] }, // a body that is taken
 *           answers: { 200: json(BatchResult, 'How many were taken.') },
 *           refusals: ['mode_not_sdk'], // its own; those of caller, query and body are added
 *           handle: async (c, { body }) => c.json(await feed.take(c.var.tenant, body.events)),
 *         }),
 *       ]
 *     }
 *
 * and name it in `endpoints.ts`. An answer that is not JSON: `file('application/gzip', …)`; none at
 * all, of 204 and 304: `nothing(…)`. Whoever registers a route in another way fails
 * test/control-plane/api/openapi.test.ts.
 */
import type * as v from 'valibot'
import { Refusal, type ErrorCode } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { isReserved } from '../store/reserved.ts'
import type { ApiContext } from '../http/context.ts'
import { readJson } from '../http/body.ts'
import { readQuery, type QueryFields, type QueryValues } from '../http/query.ts'

/** In the order of the page. */
export const GROUPS = {
  integration: 'Integration',
  connector: 'Connector program',
  agent: 'Device agent',
  analysis: 'Analysis',
  verification: 'Verification and go-live',
  enforcement: 'Enforcement feed',
  events: 'Events and webhooks',
  tenants: 'Operator: tenants',
  connectors: 'Operator: connectors',
  devices: 'Operator: devices',
  keys: 'Operator: keys, secrets and certificates',
  people: 'Operator: users and sessions',
  policies: 'Operator: policies',
  access: 'Operator: groups and access rules',
  machines: 'Operator: machines',
  directory: 'Operator: user directory',
  connections: 'Operator: connections',
  provisioning: 'Operator: provisioning (SCIM)',
  webhooks: 'Operator: webhooks',
  monitoring: 'Operator: metrics and alerts',
  fleet: 'Operator: gateways and audit trail',
  service: 'The service itself',
} as const

/**
 * analyzer: `Authorization: Bearer <ANALYZER_KEY>`; analyzer_in_query: `?api_key=` instead; client:
 * HTTP Basic with client id and secret; operator: `Authorization: Bearer <SERVICE_OPERATOR_KEY>`.
 */
export type Caller = 'anyone' | 'analyzer' | 'analyzer_in_query' | 'client' | 'operator'

export interface Answer {
  readonly description: string
  /** Media types; null where it is not JSON. */
  readonly content: Readonly<Record<string, v.GenericSchema | null>>
  /** Headers worth knowing, with what they say. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Declaration {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly group: keyof typeof GROUPS
  readonly caller: Caller
  /** For what must never be refused: whoever has the key may call as often as they like. */
  readonly isUnlimited?: boolean
  /** One sentence. */
  readonly summary: string
  /** What else has to be known, if anything. */
  readonly description?: string
  readonly query?: QueryFields
  /** Request headers that mean something, with what they mean. */
  readonly headers?: Readonly<Record<string, string>>
  /** Without one, nothing of a body is read. */
  readonly body?: v.GenericSchema
  readonly bodyBytesMax: number
  /** The body is one compact JWS (`application/jose`); what it says. */
  readonly jose?: string
  /** Of one tenant, for what holds much or takes long; further ones are told to wait (429). */
  readonly atOncePerTenantMax?: number
  /**
   * Lists of the body whose elements stand for themselves: what they should be, for the document.
   * A wrong key in one makes it null and does not refuse the body; the handler judges each.
   */
  readonly elements?: Readonly<Record<string, v.GenericSchema>>
  /** A body that is taken; needed where `{}` is not. */
  readonly example?: unknown
  readonly answers: Readonly<Record<number, Answer>>
  readonly refusals?: readonly ErrorCode[]
}

export interface Endpoint {
  readonly declaration: Declaration
  readonly handle: (c: ApiContext) => Promise<Response>
}

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

/** What came along, checked. */
interface Sent<Path extends string, Body extends v.GenericSchema, Query extends QueryFields> {
  readonly path: Readonly<Record<ParameterNames<Path>, string>>
  readonly query: QueryValues<Query>
  readonly body: v.InferOutput<Body>
}

type Method = Declaration['method']

/** What an endpoint says of itself, and what it does. */
type Described<Path extends string, Body extends v.GenericSchema, Query extends QueryFields> = Omit<
  Declaration,
  'method' | 'path' | 'group' | 'caller' | 'body' | 'bodyBytesMax' | 'query'
> & {
  readonly bodyBytesMax?: number
  readonly body?: Body
  readonly query?: Query
  /** Refuses before anything of a body is read: a large one costs its parsing, whoever sends it. */
  readonly admit?: (c: ApiContext) => void
  readonly handle: (c: ApiContext, sent: Sent<Path, Body, Query>) => Response | Promise<Response>
}

/** By method, as `operator.post(path, {…})`: endpoints of one group that the same may call. */
export function endpointsOf(
  group: Declaration['group'],
  caller: Caller,
  { isUnlimited = false } = {},
) {
  const declares =
    (method: Method) =>
    <
      const Path extends string,
      Body extends v.GenericSchema = v.GenericSchema<undefined>,
      const Query extends QueryFields = Record<never, never>,
    >(
      path: Path,
      { admit, handle, ...described }: Described<Path, Body, Query>,
    ): Endpoint => {
      const { query = {}, body, elements } = described
      // whoever has shown nothing has little to say: a megabyte of JSON takes a tenth of a second
      const ofCaller = caller === 'anyone' ? LIMITS.strangersBodyBytesMax : LIMITS.jsonBodyBytesMax
      const { bodyBytesMax = ofCaller } = described
      return {
        declaration: { method, path, group, caller, isUnlimited, ...described, bodyBytesMax },
        async handle(c) {
          const { tenant_id: tenantId } = c.req.param() as { tenant_id?: string }
          if (tenantId !== undefined && isReserved(tenantId)) throw new Refusal('tenant_not_found')
          const sent = {
            path: c.req.param() as Sent<Path, Body, Query>['path'],
            query: readQuery(c, query) as QueryValues<Query>,
          }
          admit?.(c)
          if (body === undefined) return handle(c, { ...sent, body })
          const read = await readJson(c, body, bodyBytesMax, elements !== undefined)
          await c.get('admitAgain')?.()
          return handle(c, { ...sent, body: read })
        },
      }
    }
  return {
    get: declares('GET'),
    post: declares('POST'),
    put: declares('PUT'),
    patch: declares('PATCH'),
    delete: declares('DELETE'),
  }
}

export function json(schema: v.GenericSchema, description: string): Answer {
  return { description, content: { 'application/json': schema } }
}

export function file(mediaType: string, description: string): Answer {
  return { description, content: { [mediaType]: null } }
}

export function nothing(description: string): Answer {
  return { description, content: {} }
}
