/** From the schemas that validate to JSON Schema 2020-12, which is what OpenAPI 3.1 speaks. */
import {
  toJsonSchema,
  toJsonSchemaDefs,
  type ConversionConfig,
  type JsonSchema,
} from '@valibot/to-json-schema'
import type * as v from 'valibot'
import {
  AddressBlock,
  AuditEntry,
  ErrorAnswer,
  Factor,
  Gateway,
  ProtectionAnswer,
  PublicKey,
  Session,
  Tenant,
  User,
} from '../answer-fields.ts'

export type { JsonSchema }

/** What several endpoints speak of has a name of its own in the document. */
const NAMED = {
  AddressBlock,
  AuditEntry,
  Error: ErrorAnswer,
  Factor,
  Gateway,
  Protection: ProtectionAnswer,
  PublicKey,
  Session,
  Tenant,
  User,
}

const WHERE = '#/components/schemas/'

/** A check that JSON Schema has no word for is told in the words of its error. */
const config: ConversionConfig = {
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => WHERE + referenceId,
  overrideAction: ({ valibotAction, jsonSchema }) => {
    const isCaseless = 'requirement' in valibotAction && ignoresCase(valibotAction.requirement)
    const { pattern, ...rest } = jsonSchema
    const kept = isCaseless || pattern === undefined ? rest : { ...rest, pattern }
    const wish = 'message' in valibotAction ? valibotAction.message : undefined
    const isTold = jsonSchema.description !== undefined || jsonSchema.type === 'object'
    return typeof wish !== 'string' || isTold ? kept : { ...kept, description: sentence(wish) }
  },
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    const wish = 'message' in valibotSchema ? valibotSchema.message : undefined
    const isTold = jsonSchema.enum !== undefined || jsonSchema.type === 'boolean'
    if (typeof wish !== 'string' || isTold || jsonSchema.description !== undefined) return undefined
    return { ...jsonSchema, description: sentence(wish) }
  },
}

/** What may be sent, before anything is made of it. */
export function sentSchema(
  schema: v.GenericSchema,
  elements: Readonly<Record<string, v.GenericSchema>> = {},
): JsonSchema {
  const sent = plain(toJsonSchema(schema, { ...config, typeMode: 'input' }))
  for (const [name, element] of Object.entries(elements)) {
    const list = sent.properties?.[name]
    if (typeof list === 'object') list.items = sentSchema(element)
  }
  return sent
}

/** What a text in the query has to mean. */
export function querySchema(schema: v.GenericSchema): JsonSchema {
  return plain(toJsonSchema(schema, { ...config, typeMode: 'output' }))
}

export function answeredSchema(schema: v.GenericSchema): JsonSchema {
  return plain(toJsonSchema(schema, { ...config, typeMode: 'output', definitions: NAMED }))
}

export function namedSchemas(): Record<string, JsonSchema> {
  return toJsonSchemaDefs(NAMED, { ...config, typeMode: 'output' })
}

/** What a reference means. */
export function nameOf({ $ref }: JsonSchema): string | undefined {
  return $ref?.startsWith(WHERE) === true ? $ref.slice(WHERE.length) : undefined
}

function plain({ $schema: _dialect, $defs: _named, ...schema }: JsonSchema): JsonSchema {
  return schema
}

function ignoresCase(requirement: unknown): boolean {
  return requirement instanceof RegExp && requirement.ignoreCase
}

function sentence(wish: string): string {
  return wish.charAt(0).toUpperCase() + wish.slice(1) + '.'
}
