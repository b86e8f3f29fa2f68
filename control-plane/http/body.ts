/** A request's body: bounded, JSON, and exactly what the endpoint takes. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { ApiContext } from './context.ts'
import { parseStrictJson } from './strict-json.ts'

export async function readJson<Schema extends v.GenericSchema>(
  c: ApiContext,
  schema: Schema,
  bytesMax: number = LIMITS.jsonBodyBytesMax,
  areElementsApart = false,
): Promise<v.InferOutput<Schema>> {
  const bytes = await readBytes(c, bytesMax)
  if (bytes.length > 0 && !isJson(c.req.header('content-type')))
    throw new Refusal('media_type_unsupported')
  if (isPacked(c.req.header('content-encoding')))
    throw new Refusal(
      'media_type_unsupported',
      {},
      'Send the body uncompressed, without Content-Encoding.',
    )
  // nothing at all stands for the empty object: `curl -X POST` on an endpoint without fields
  return parseFields(schema, bytes.length === 0 ? {} : parseStrictJson(bytes, areElementsApart))
}

function parseFields<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal('field_invalid', { field: 'body' }, 'The body must be a JSON object.')
  const result = v.safeParse(schema, value, { abortEarly: true })
  if (!result.success) throw refusalOf(result.issues[0])
  const misread = listReadAsObject(value, result.output)
  if (misread === undefined) return result.output
  const [field = 'body'] = misread
  throw new Refusal('field_invalid', { field }, `"${misread.join('.')}" must be a JSON object.`)
}

/** valibot takes `[]` for an object all of whose fields may be left out. */
function listReadAsObject(given: unknown, read: unknown): readonly string[] | undefined {
  if (typeof given !== 'object' || typeof read !== 'object' || !given || !read) return undefined
  if (Array.isArray(given) !== Array.isArray(read)) return []
  for (const [name, value] of Object.entries(given)) {
    const inside = listReadAsObject(value, (read as Record<string, unknown>)[name])
    if (inside !== undefined) return [name, ...inside]
  }
  return undefined
}

/** Names the field and what is wanted, never the value: it may be a password or a key. */
function refusalOf(issue: v.BaseIssue<unknown>): Refusal {
  const path = (issue.path ?? []).map((item) => String((item as { key: unknown }).key))
  const field = (path[0] ?? 'body').slice(0, 100)
  const where = path.join('.').slice(0, 200)
  const isKeyIssue = issue.type === 'strict_object' && path.length > 0
  if (isKeyIssue && issue.expected === 'never')
    return new Refusal(
      'field_invalid',
      { field },
      `Unknown field "${where}". Remove it or check its spelling.`,
    )
  if (isKeyIssue)
    return new Refusal('field_invalid', { field }, `The field "${where}" is required.`)
  return new Refusal('field_invalid', { field }, `"${where}" must be ${issue.message}.`)
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? '')
}

/** Nothing is unpacked: a small body could become a large one, or be read otherwise by others. */
function isPacked(contentEncoding = 'identity'): boolean {
  return contentEncoding.trim().toLowerCase() !== 'identity'
}

/** Counts what arrives, whatever Content-Length says. */
export async function readBytes(c: ApiContext, bytesMax: number): Promise<Uint8Array> {
  const announced = Number(c.req.header('content-length') ?? 0)
  if (announced > bytesMax) throw new Refusal('body_too_large', { bytes_max: bytesMax })
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunksOf(c)) {
    length += chunk.length
    if (length > bytesMax) throw new Refusal('body_too_large', { bytes_max: bytesMax })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Whoever stops reading leaves the rest to the listener: an answer goes out on this connection. */
function chunksOf(c: ApiContext): AsyncIterable<Uint8Array> {
  const incoming = c.env?.incoming
  if (incoming !== undefined) return incoming.iterator({ destroyOnReturn: false })
  return (c.req.raw.body ?? []) as unknown as AsyncIterable<Uint8Array>
}
