/**
 * What can be wrong with a call, made from the declaration of its endpoint: whoever declares a new
 * one has it walked. A case says what is sent otherwise, and what the answer has to be.
 */
import type { Declaration } from '../../../control-plane/api/endpoint.ts'
import { parametersIn } from '../../../control-plane/api/openapi/path-parameters.ts'
import { querySchema } from '../../../control-plane/api/openapi/schemas.ts'
import { bodyCases } from './bad-bodies.ts'
import { callerCases } from './bad-callers.ts'
import type { BadCase } from './bad-case.ts'
import { callOf, type Prepared } from './endpoint-calls.ts'

export function badCases(declaration: Declaration, prepared: Prepared): readonly BadCase[] {
  return [
    ...(declaration.body === undefined ? [] : bodyCases(declaration, prepared)),
    ...queryCases(declaration),
    ...(declaration.caller === 'anyone' ? [] : callerCases(declaration, prepared)),
    ...pathCases(declaration, prepared),
  ]
}

function queryCases({ query = {} }: Declaration): readonly BadCase[] {
  return Object.entries(query).flatMap(([name, schema]) => {
    if ('fallback' in schema) return [] // whatever is wrong is taken for it
    const { type, maxLength, minimum, maximum } = querySchema(schema)
    const wrong = [
      ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
      ...(type === 'integer' ? ['', 'x', '1.5', '1e1', '+1', '%201', '0x1', '٣'] : []),
      ...(minimum === undefined ? [] : [String(minimum - 1)]),
      ...(maximum === undefined ? [] : [String(maximum + 1)]),
    ]
    return [`${name}=1&${name}=1`, ...['a%00', ...wrong].map((value) => `${name}=${value}`)].map(
      (query) => ({
        name: `?${query.slice(0, 40)}`,
        otherwise: { query },
        status: 400,
        error: 'query_invalid',
        field: name,
      }),
    )
  })
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
