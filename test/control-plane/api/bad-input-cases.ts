/**
 * What can be wrong with a call, made from the declaration of its endpoint: whoever declares a new
 * one has it walked. A case says what is sent otherwise, and what the answer has to be.
 */
import type { Declaration } from '../../../control-plane/api/endpoint.ts'
import { sentSchema, type JsonSchema } from '../../../control-plane/api/openapi/schemas.ts'
import { parametersIn } from '../../../control-plane/api/openapi/path-parameters.ts'
import { querySchema } from '../../../control-plane/api/openapi/schemas.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { callOf } from './endpoint-calls.ts'
import { basic, type Otherwise, type Prepared } from './endpoint-world.ts'
import { missingFields, wrongFields } from './wrong-fields.ts'

export interface BadCase {
  readonly name: string
  readonly otherwise: Otherwise
  readonly status: number
  readonly error: string | RegExp
  readonly field?: string | undefined
}

/** None of it may come back in an answer. */
export const MARKER = 'sent-by-mistake'

export function badCases(declaration: Declaration, prepared: Prepared): readonly BadCase[] {
  return [
    ...(declaration.body === undefined ? [] : bodyCases(declaration, prepared)),
    ...queryCases(declaration),
    ...(declaration.caller === 'anyone' ? [] : callerCases(declaration, prepared)),
    ...pathCases(declaration, prepared),
  ]
}

function bodyCases(declaration: Declaration, prepared: Prepared): readonly BadCase[] {
  const schema = sentSchema(declaration.body as NonNullable<Declaration['body']>)
  const good = callOf(declaration, prepared).body as Record<string, unknown>
  const invalid = (name: string, body: unknown, field?: string) =>
    raw(name, JSON.stringify(body), 400, 'field_invalid', field)
  return [
    ...wrongFields(schema, good).map(({ name, body, field }) => invalid(name, body, field)),
    ...missingFields(schema, good).map(({ name, body, field }) => invalid(name, body, field)),
    ...['colour', 'constructor', 'toString', '', 'force.x', 'a'.repeat(1000)].map((field) =>
      invalid(
        `an unknown field ${field.slice(0, 20)}`,
        { ...good, [field]: MARKER },
        field.slice(0, 100),
      ),
    ),
    ...(schema.required?.length
      ? [raw('no body', '', 400, 'field_invalid', schema.required[0])]
      : []),
    ...['[]', 'null', `"${MARKER}"`, '1', 'true', JSON.stringify([good])].map((text) =>
      raw(`${text.slice(0, 20)} as a body`, text, 400, 'field_invalid', 'body'),
    ),
    ...jsonCases(good),
    ...sizeCases(declaration, good),
    ...mediaTypeCases(good),
  ]
}

/** Text that is no JSON, or more than one reading of it. */
function jsonCases(good: object): readonly BadCase[] {
  const notJson = (name: string, text: string | Uint8Array<ArrayBuffer>) =>
    raw(name, text, 400, 'body_not_json')
  const text = JSON.stringify(good)
  const bytes = new TextEncoder().encode(text)
  const [first = 'twice'] = Object.keys(good)
  const deep = '['.repeat(LIMITS.jsonDepthMax) + ']'.repeat(LIMITS.jsonDepthMax)
  return [
    notJson('half of it', text.slice(0, -1)),
    notJson('blanks', '  \n'),
    notJson('two of it', text + text),
    notJson('a comma too many', with_(good, '"colour":1,')),
    notJson('a comment', `/* ${MARKER} */ ${text}`),
    notJson('single quotes', `{'a':'${MARKER}'}`),
    notJson('not a number', with_(good, '"colour":NaN')),
    notJson('a line end in a string', with_(good, '"colour":"\n"')),
    notJson('broken UTF-8', Uint8Array.of(...bytes.subarray(0, -1), 0xff, 0x7d)),
    notJson(
      'broken UTF-8 in a string',
      Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d),
    ),
    notJson('overlong UTF-8', Uint8Array.of(0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d)),
    notJson('UTF-16', Uint8Array.from(Buffer.from(text, 'utf16le'))),
    notJson('a level too deep', with_(good, `"colour":${deep}`)),
    notJson('100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)),
    ...['__proto__', '\\u005f_proto__', '__pr\\u006fto__'].flatMap((name) => [
      raw(name, with_(good, `"${name}":{"x":1}`), 400, 'field_invalid', '__proto__'),
      raw(
        `${name}, nested`,
        with_(good, `"a":{"b":{"${name}":1}}`),
        400,
        'field_invalid',
        '__proto__',
      ),
    ]),
    raw(
      'a field twice',
      with_({ ...good, [first]: 1 }, `"${first}":1`),
      400,
      'field_invalid',
      first,
    ),
    raw('a key twice, nested', with_(good, '"a":{"b":1,"\\u0062":2}'), 400, 'field_invalid', 'b'),
  ]
}

function sizeCases({ bodyBytesMax }: Declaration, good: object): readonly BadCase[] {
  const max = bodyBytesMax ?? LIMITS.jsonBodyBytesMax
  const surplus = JSON.stringify({ ...good, surplus: 1 })
  return [
    raw('as large as allowed', surplus.padEnd(max), 400, 'field_invalid', 'surplus'),
    raw('one byte too large', JSON.stringify(good).padEnd(max + 1), 413, 'body_too_large'),
    {
      ...raw('announced as too large', JSON.stringify(good), 413, 'body_too_large'),
      otherwise: { raw: '{}', headers: { 'content-length': String(max + 1) } },
    },
  ]
}

function mediaTypeCases(good: object): readonly BadCase[] {
  const surplus = JSON.stringify({ ...good, surplus: 1 })
  const unsupported = { status: 415, error: 'media_type_unsupported' }
  const types = [
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json;charset=latin1',
    'application/json;charset=utf-16',
    'application/json, text/plain',
    'text/plain; application/json',
  ]
  return [
    ...types.map((type) => ({
      ...unsupported,
      name: `sent as ${type === '' ? 'nothing' : type}`,
      otherwise: { raw: surplus, type },
    })),
    ...['gzip', 'br', 'identity, gzip'].map((encoding) => ({
      ...unsupported,
      name: `packed by ${encoding}`,
      otherwise: { raw: surplus, headers: { 'content-encoding': encoding } },
    })),
  ]
}

function queryCases({ query = {} }: Declaration): readonly BadCase[] {
  return Object.entries(query).flatMap(([name, schema]) => {
    const { type, maxLength, minimum, maximum } = querySchema(schema)
    const wrong = [
      ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
      ...(type === 'integer' ? ['', 'x', '1.5', '1e1', '+1', '%201', '0x1', '٣'] : []),
      ...(minimum === undefined ? [] : [String(minimum - 1)]),
      ...(maximum === undefined ? [] : [String(maximum + 1)]),
    ]
    return [`${name}=1&${name}=1`, ...wrong.map((value) => `${name}=${value}`)].map((query) => ({
      name: `?${query.slice(0, 40)}`,
      otherwise: { query },
      status: 400,
      error: 'query_invalid',
      field: name,
    }))
  })
}

const KEY_ERRORS = {
  analyzer: 'analyzer_key_invalid',
  analyzer_in_query: 'analyzer_key_invalid',
  client: 'client_credentials_invalid',
  operator: 'operator_key_invalid',
} as const

/** Every secret that there is, and some that are not, in every place but the right one. */
function callerCases(declaration: Declaration, prepared: Prepared): readonly BadCase[] {
  const { caller } = declaration
  if (caller === 'anyone') return []
  const { tenant } = callOf(declaration, prepared)
  const own = prepared.tenants[tenant]
  const { other } = prepared.tenants
  const refused = (name: string, otherwise: Otherwise): BadCase => ({
    name,
    otherwise,
    status: 401,
    error: KEY_ERRORS[caller],
  })
  const secrets = { operator: OPERATOR_KEY, analyzer: own.analyzer_key, client: own.client_secret }
  const right =
    caller === 'client'
      ? basic(own.client_id, own.client_secret)
      : `Bearer ${caller === 'operator' ? OPERATOR_KEY : own.analyzer_key}`
  const values = [
    ...Object.entries(secrets)
      .filter(([kind]) => kind !== caller)
      .map(([, secret]) => `Bearer ${secret}`),
    `Bearer ${own.client_secret}`,
    ...['', 'x', MARKER, 'x'.repeat(LIMITS.secretCharactersMax + 1), '%00', '\xff'].map(
      (key) => `Bearer ${key}`,
    ),
    right.replace(/^\w+ /, ''),
    right.replace(' ', '  '),
    right.replace(/^\w+/, 'Token'),
    `${right}x`,
    `${right}, ${right}`,
    `${right} ${right}`,
    basic(own.client_id, own.analyzer_key),
    basic(own.client_id, other.client_secret),
    basic(other.client_id, own.client_secret),
    basic('', own.client_secret),
    basic(tenant, own.client_secret),
    basic('-user', own.client_secret),
    basic('__proto__-user', own.client_secret),
    basic(own.client_id, ''),
    basic(own.client_id, 'x'.repeat(LIMITS.secretCharactersMax + 1)),
    `Basic ${own.client_secret}`,
    'Basic %%%',
  ]
  const query = `api_key=${own.analyzer_key}&access_token=${OPERATOR_KEY}`
  if (caller === 'analyzer_in_query') {
    const key = `api_key=${own.analyzer_key}`
    const wrong = [
      '',
      'api_key=',
      `${key}x`,
      `${key}&${key}`,
      `${key}&api_key=x`,
      `API_KEY=${own.analyzer_key}`,
    ]
    const foreign = [OPERATOR_KEY, own.client_secret].map((secret) => `api_key=${secret}`)
    return [
      ...[...wrong, ...foreign, `api_key=${'x'.repeat(600)}`].map((keyInQuery) =>
        refused(`?${keyInQuery.slice(0, 20)}`, { keyInQuery }),
      ),
      refused('the key as a bearer', { keyInQuery: '', authorization: right }),
    ]
  }
  return [
    refused('no key', { authorization: null }),
    refused('the key in the query', { authorization: null, query }),
    refused('the key in another header', { authorization: null, headers: { 'x-api-key': right } }),
    ...values.map((authorization) =>
      refused(`Authorization: ${authorization.slice(0, 30)}`, { authorization }),
    ),
  ]
}

const ODD_IDS = [
  'a'.repeat(5000),
  '%00',
  'acme%00',
  'acme%20',
  'ACME',
  '..%2facme',
  '%2e%2e%2f%2e%2e',
  'a%2fb',
  '__proto__',
  'constructor',
  "x'%20or%201=1--",
  '%F0%9F%94%91',
  '%ff',
  '%',
  '%zz',
  '*',
  '{tenant_id}',
]

function pathCases(declaration: Declaration, prepared: Prepared): readonly BadCase[] {
  const { path } = callOf(declaration, prepared)
  const unknown = (name: string, path: string): BadCase => ({
    name: `${name}: ${path.slice(0, 80)}`,
    otherwise: { path },
    status: 404,
    error: /(?:^|_)not_found$/,
  })
  const steps = path.split('/')
  const names = declaration.path.split('/')
  return [
    unknown('a slash at the end', `${path}/`),
    unknown('a slash twice', path.replace(/(?!^)\//, '//')),
    unknown(
      'in capitals',
      path.replace(/^\/\w+/, (word) => word.toUpperCase()),
    ),
    unknown('encoded twice', path.replace(/^\/(\w)/, '/%25$1')),
    ...[';x', '%00', '%zz', '%3f', '.xml', '%2f', '%5c'].map((end) =>
      unknown('more of it', path + end),
    ),
    ...parametersIn(declaration.path).flatMap((name) => {
      const at = names.indexOf(`{${name}}`)
      return ODD_IDS.map((id) => unknown(name, steps.with(at, id).join('/')))
    }),
    ...(parametersIn(declaration.path).length > 1
      ? [unknown("another tenant's", path.replace('/acme/', '/other/'))]
      : []),
  ]
}

function raw(
  name: string,
  text: string | Uint8Array<ArrayBuffer>,
  status: number,
  error: string,
  field?: string,
): BadCase {
  return { name, otherwise: { raw: text }, status, error, field }
}

/** The good body with something before all else in it. */
function with_(good: object, member: string): string {
  const rest = JSON.stringify(good).slice(1)
  return `{${member}${rest === '}' ? '' : ','}${rest}`
}

export type { JsonSchema }
