/** The audit trail as a file: CSV for people with spreadsheets, JSON lines for programs. */
import type { AuditTrail, AuditSearch } from '../../accounts/audit-trail.ts'
import type { AuditRow } from '../../store/queries/audit.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { csvLine } from '../../requests/csv.ts'
import { actionText, actorText } from './entry.ts'

export const AUDIT_FORMATS = ['csv', 'jsonl'] as const

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/x-ndjson' } as const
const COLUMNS = [
  ...['time', 'action', 'description', 'actor', 'actor_id', 'tenant_id', 'user_id', 'details'],
  'request_id',
]
const PAGE = 200

/** Page by page, as it is read; it stops where nobody reads it any more, or at so many entries. */
export function auditFile(
  auditTrail: Pick<AuditTrail, 'search'>,
  search: AuditSearch,
  format: (typeof AUDIT_FORMATS)[number],
  name: string,
): Response {
  const body = ReadableStream.from(lines(auditTrail, search, format))
  return new Response(body, {
    headers: {
      'Content-Type': TYPES[format],
      'Content-Disposition': `attachment; filename="audit-${name}.${format}"`,
      'Cache-Control': 'no-store',
    },
  })
}

async function* lines(
  auditTrail: Pick<AuditTrail, 'search'>,
  search: AuditSearch,
  format: (typeof AUDIT_FORMATS)[number],
): AsyncGenerator<Uint8Array> {
  if (format === 'csv') yield Buffer.from(csvLine(COLUMNS))
  let left: number = LIMITS.auditExportedMax
  for (let cursor: string | undefined; left > 0;) {
    const page = await auditTrail.search({ limit: Math.min(PAGE, left), cursor }, search)
    const text = page.items.map(format === 'csv' ? csvOf : jsonOf).join('')
    if (text !== '') yield Buffer.from(text)
    left -= page.items.length
    if (page.next === null) return
    cursor = page.next
  }
}

function csvOf(row: AuditRow): string {
  return csvLine([
    new Date(row.at).toISOString(),
    row.action,
    actionText(row.action),
    actorText(row.actor),
    row.actorId ?? '',
    row.tenantId ?? '',
    row.userId ?? '',
    JSON.stringify(row.content),
    row.requestId,
  ])
}

function jsonOf({ at, action, actor, actorId, tenantId, userId, content, requestId }: AuditRow) {
  return `${JSON.stringify({
    at: new Date(at).toISOString(),
    action,
    actor,
    actor_id: actorId,
    tenant_id: tenantId,
    user_id: userId,
    details: content,
    request_id: requestId,
  })}\n`
}
