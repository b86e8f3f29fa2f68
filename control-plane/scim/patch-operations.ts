/** The operations of a PATCH (RFC 7644, section 3.5.2), as Entra and Okta send them: `op` in any case. */
import { LIMITS } from '../../shared/limits.ts'
import { readPath, type AttributePath } from './attribute-paths.ts'
import { invalid, ScimError } from './scim-error.ts'

export interface Operation {
  readonly op: 'add' | 'replace' | 'remove'
  /** Left out: the value is an object whose keys are paths. */
  readonly path: AttributePath | undefined
  /** undefined: none was sent. */
  readonly value: unknown
}

export function readOperations(body: Readonly<Record<string, unknown>>): readonly Operation[] {
  const [, list] = Object.entries(body).find(([key]) => key.toLowerCase() === 'operations') ?? []
  if (!Array.isArray(list) || list.length === 0 || list.length > LIMITS.scimOperationsMax)
    throw invalid('Operations', `a list of 1 to ${LIMITS.scimOperationsMax} operations`)
  return list.map(readOperation)
}

function readOperation(given: unknown): Operation {
  if (typeof given !== 'object' || given === null) throw invalid('Operations', 'a list of objects')
  const fields = new Map(Object.entries(given).map(([key, value]) => [key.toLowerCase(), value]))
  const op = String(fields.get('op')).toLowerCase()
  if (op !== 'add' && op !== 'replace' && op !== 'remove')
    throw new ScimError(400, 'Send "op" as add, replace or remove.', 'invalidSyntax')
  const said: unknown = fields.get('path')
  if (said !== undefined && said !== null && typeof said !== 'string') throw invalid('path', 'text')
  const path = said === undefined || said === null || said === '' ? undefined : readPath(said)
  const value: unknown = fields.get('value')
  if (path === undefined && op === 'remove')
    throw new ScimError(400, 'Send a path with remove: what is to be removed.', 'noTarget')
  if (path === undefined && (typeof value !== 'object' || value === null || Array.isArray(value)))
    throw new ScimError(
      400,
      'Send a path, or a value that is an object of attributes.',
      'invalidSyntax',
    )
  if (path !== undefined && op !== 'remove' && value === undefined)
    throw new ScimError(400, `Send a value with ${op}.`, 'invalidSyntax')
  return { op, path, value }
}
