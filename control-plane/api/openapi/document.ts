/** The OpenAPI 3.1 document, made of what the endpoints declare. */
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts'
import { VERSION } from '../../../shared/version.ts'
import { GROUPS, type Answer, type Caller, type Declaration } from '../endpoint.ts'
import { refusalsOf } from '../refusals.ts'
import { PATH_PARAMETERS, parametersIn } from './path-parameters.ts'
import {
  answeredSchema,
  namedSchemas,
  querySchema,
  sentSchema,
  type JsonSchema,
} from './schemas.ts'

const SECURITY_SCHEMES = {
  analyzerKey: {
    type: 'http',
    scheme: 'bearer',
    description: "The tenant's analyzer key, for pipelines and the command line.",
  },
  analyzerKeyInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The same analyzer key, for downloads.',
  },
  clientCredentials: {
    type: 'http',
    scheme: 'basic',
    description: 'Client id `<tenant_id>-user` and client secret, for the middleware in sdk mode.',
  },
  operatorKey: {
    type: 'http',
    scheme: 'bearer',
    description: '`SERVICE_OPERATOR_KEY`, for the operator of the service.',
  },
} as const

const SECURITY = {
  anyone: [],
  analyzer: [{ analyzerKey: [] }],
  analyzer_in_query: [{ analyzerKeyInQuery: [] }],
  client: [{ clientCredentials: [] }],
  operator: [{ operatorKey: [] }],
} as const satisfies Record<Caller, readonly Partial<Record<keyof typeof SECURITY_SCHEMES, []>>[]>

const JSON_TYPE = 'application/json'
const JOSE_TYPE = 'application/jose'
const FAILURE = { $ref: '#/components/responses/failure' }
const ERROR = { $ref: '#/components/schemas/Error' }

export type OpenApiDocument = ReturnType<typeof openApiDocument>

export function openApiDocument(declarations: readonly Declaration[], baseUrl: string) {
  const paths: Record<string, Record<string, unknown>> = {}
  const refusals: Record<string, unknown> = {}
  for (const declaration of declarations) {
    const path = (paths[declaration.path] ??= {})
    path[declaration.method.toLowerCase()] = operation(declaration, refusals)
  }
  const used = new Set(declarations.map(({ group }) => group))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sign-in protection service',
      version: VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Times are ISO 8601 in UTC. Every response carries `X-Request-Id`. Every error is JSON with ' +
        'an `error` for programs and a `detail` for people, and names the `field` if one is wrong. ' +
        'Unknown fields, repeated keys and anything but UTF-8 are rejected.',
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(GROUPS)
      .filter(([group]) => used.has(group as keyof typeof GROUPS))
      .map(([, name]) => ({ name })),
    paths,
    components: {
      schemas: namedSchemas(),
      responses: {
        ...refusals,
        failure: {
          description: 'Something went wrong on our side.',
          headers: REQUEST_ID,
          content: { [JSON_TYPE]: { schema: ERROR } },
        },
      },
      securitySchemes: SECURITY_SCHEMES,
      headers: {
        RequestId: {
          description: 'Finds this request in the log.',
          schema: { type: 'string', format: 'uuid' },
        },
      },
    },
  }
}

function operation(declaration: Declaration, shared: Record<string, unknown>) {
  const { group, caller, summary, description, body, jose } = declaration
  return {
    operationId: operationId(declaration),
    tags: [GROUPS[group]],
    summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY[caller],
    parameters: parameters(declaration),
    ...(body === undefined
      ? {}
      : { requestBody: requestBody(declaration, sentSchema(body, declaration.elements)) }),
    ...(jose === undefined ? {} : { requestBody: joseBody(jose) }),
    responses: responses(declaration, shared),
  }
}

/** `POST /api/v1/operator/tenants/{tenant_id}/publish`: postOperatorTenantsByTenantIdPublish. */
function operationId({ method, path }: Declaration): string {
  const words = path
    .replace(/^\/api\/v1/, '')
    .replaceAll('{', 'by-')
    .split(/[^A-Za-z0-9]+/)
  const capitals = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return method.toLowerCase() + capitals.join('')
}

function parameters({ path, query = {}, headers = {} }: Declaration) {
  return [
    ...parametersIn(path).map((name) => ({
      name,
      in: 'path',
      required: true,
      description: PATH_PARAMETERS[name].description,
      schema: { type: 'string' },
      example: PATH_PARAMETERS[name].example,
    })),
    ...Object.entries(query).map(([name, schema]) => {
      const { description, ...rest } = querySchema(schema)
      return { name, in: 'query', required: false, description, schema: rest }
    }),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ]
}

function requestBody({ example, bodyBytesMax }: Declaration, schema: JsonSchema): object {
  return {
    required: (schema.required ?? []).length > 0,
    description: `At most ${bodyBytesMax} bytes.`,
    content: { [JSON_TYPE]: { schema, ...(example === undefined ? {} : { example }) } },
  }
}

function joseBody(description: string): object {
  return { required: true, description, content: { [JOSE_TYPE]: { schema: { type: 'string' } } } }
}

/** Endpoints refuse alike: each set of refusals is written out once, in `shared`. */
function responses(declaration: Declaration, shared: Record<string, unknown>): object {
  const answers = Object.entries(declaration.answers).map(
    ([status, answer]) => [status, response(answer)] as const,
  )
  const byStatus = Map.groupBy(refusalsOf(declaration), (code) => ERRORS[code].status)
  const refusals = [...byStatus].map(([status, codes]) => {
    const name = codes.join('.')
    shared[name] ??= refusal(status, codes)
    return [String(status), { $ref: `#/components/responses/${name}` }] as const
  })
  return { ...Object.fromEntries<object>([...answers, ...refusals]), default: FAILURE }
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

function response({ description, content, headers = {} }: Answer) {
  const types = Object.entries(content).map(([type, schema]) => [
    type,
    schema === null ? {} : { schema: answeredSchema(schema) },
  ])
  return {
    description,
    headers: { ...REQUEST_ID, ...toHeaders(headers) },
    ...(types.length === 0 ? {} : { content: Object.fromEntries(types) as object }),
  }
}

/** `WWW-Authenticate` and `Retry-After` come with their status, whatever the endpoint. */
const REFUSAL_HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'How to authenticate.' },
  429: { 'Retry-After': 'Seconds to wait.' },
}

function refusal(status: number, codes: readonly ErrorCode[]) {
  const examples = codes.map((error) => [error, { value: { error, detail: ERRORS[error].detail } }])
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].detail}`).join(' '),
    headers: { ...REQUEST_ID, ...toHeaders(REFUSAL_HEADERS[status] ?? {}) },
    content: {
      [JSON_TYPE]: {
        schema: { allOf: [ERROR, { properties: { error: { enum: codes } } }] },
        examples: Object.fromEntries(examples) as object,
      },
    },
  }
}

function toHeaders(headers: Readonly<Record<string, string>>) {
  const entries = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return Object.fromEntries(entries) as object
}
