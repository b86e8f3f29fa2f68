/** What can be wrong with a body: its fields, its JSON, its size and its media type. */
import type { Declaration } from '../../../control-plane/api/endpoint.ts'
import { sentSchema } from '../../../control-plane/api/openapi/schemas.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { MARKER, type BadCase } from './bad-case.ts'
import { callOf, type Prepared } from './endpoint-calls.ts'
import { missingFields, wrongFields } from './wrong-fields.ts'

export function bodyCases(declaration: Declaration, prepared: Prepared): readonly BadCase[] {
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
    notJson('a comma too many', withFirst(good, '"colour":1,')),
    notJson('a comment', `/* ${MARKER} */ ${text}`),
    notJson('single quotes', `{'a':'${MARKER}'}`),
    notJson('not a number', withFirst(good, '"colour":NaN')),
    notJson('a line end in a string', withFirst(good, '"colour":"\n"')),
    notJson('broken UTF-8', Uint8Array.of(...bytes.subarray(0, -1), 0xff, 0x7d)),
    notJson(
      'broken UTF-8 in a string',
      Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d),
    ),
    notJson('overlong UTF-8', Uint8Array.of(0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d)),
    notJson('UTF-16', Uint8Array.from(Buffer.from(text, 'utf16le'))),
    notJson('a level too deep', withFirst(good, `"colour":${deep}`)),
    notJson('7,000 levels', '['.repeat(7_000) + ']'.repeat(7_000)),
    raw('100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), 413, 'body_too_large'),
    ...['__proto__', '\\u005f_proto__', '__pr\\u006fto__'].flatMap((name) => [
      raw(name, withFirst(good, `"${name}":{"x":1}`), 400, 'field_invalid', '__proto__'),
      raw(
        `${name}, nested`,
        withFirst(good, `"a":{"b":{"${name}":1}}`),
        400,
        'field_invalid',
        '__proto__',
      ),
    ]),
    raw(
      'a field twice',
      withFirst({ ...good, [first]: 1 }, `"${first}":1`),
      400,
      'field_invalid',
      first,
    ),
    raw(
      'a key twice, nested',
      withFirst(good, '"a":{"b":1,"\\u0062":2}'),
      400,
      'field_invalid',
      'b',
    ),
  ]
}

function sizeCases({ bodyBytesMax: max }: Declaration, good: object): readonly BadCase[] {
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
function withFirst(good: object, member: string): string {
  const rest = JSON.stringify(good).slice(1)
  return `{${member}${rest === '}' ? '' : ','}${rest}`
}
