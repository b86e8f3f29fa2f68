/** What a person has to know besides: settings that have to be there, and what changes for visitors. */
import type { Application } from '../detection/application.ts'
import { NO_PARTS, type Parts } from '../plan.ts'
import type { Wishes } from './wishes.ts'

export function notesFor(application: Application, wishes: Wishes): Parts {
  const { healthPath } = application
  const isInCode = Boolean(wishes.tenantId)
  const address = [
    `SERVICE_BASE_URL=${wishes.baseUrl}`,
    wishes.tenantId
      ? `SERVICE_TENANT_ID=${wishes.tenantId}`
      : 'SERVICE_TENANT_ID (the ID of your tenant)',
  ]
  const secret =
    'SERVICE_CLIENT_SECRET (a secret, in the console under Keys: keep it out of the project)'
  const needed = [...(isInCode ? [] : address), ...(wishes.mode === 'sdk' ? [secret] : [])]
  const notes: string[] = []
  if (needed.length > 0)
    notes.push(
      `Set these environment variables where the application starts${isNode(application) ? '; without them it does not start' : ''}: ${needed.join(', ')}.`,
    )
  if (isInCode)
    notes.push(
      'The code contains the address of your service and your tenant ID. For other environments, SERVICE_BASE_URL and SERVICE_TENANT_ID override them.',
    )
  if (wishes.mode === 'sdk') return { ...NO_PARTS, notes }
  notes.push(
    'The public keys are read from service_public.pem in the folder where the application starts; set SERVICE_PUBLIC_KEY_FILE to use another file.',
  )
  notes.push(isNode(application) ? PASSES_UNNAMED : REFUSES)
  if (wishes.mode === 'connector') notes.push(connectorNote(wishes, application.port))
  if (healthPath !== null && isNode(application))
    notes.push(
      `Load balancer health checks carry no signature: to allow them, use verifyClaims({ excluded: ['${healthPath}'] }).`,
    )
  return { ...NO_PARTS, notes }
}

const PASSES_UNNAMED =
  'Before go-live, visitors pass through as today, without an identity. After it, only requests through the service are allowed. If the application cannot reach the service, it refuses all requests.'
const REFUSES =
  'From its next start, the application refuses every request that does not come through the service, including current visitors. Restart it right before go-live.'

/** Nothing in the project: a program that runs beside it. */
export function connectorNote(
  { baseUrl, tenantId }: Pick<Wishes, 'baseUrl' | 'tenantId'>,
  port: number | null,
): string {
  const [install, join, run] = connectorCommands(baseUrl, port)
  return `In connector mode, requests reach the application through a connector that runs beside it. If there is none yet, create a join token ${tokenPage(baseUrl, tenantId)}, install it (${install}), then run ${join} and ${run}.`
}

export const connectorCommands = (baseUrl: string, port: number | null) =>
  [
    `curl -fsSL ${baseUrl}/api/v1/connector/install | sh`,
    `service-connector join --origin http://127.0.0.1:${port ?? 3000}`,
    'service-connector run',
  ] as const

export const tokenPage = (baseUrl: string, tenantId: string | null): string =>
  tenantId === null ? 'in the console' : `at ${baseUrl}/console/tenants/${tenantId}/connectors`

export function isNode({ framework }: Application): boolean {
  return /^(?:next|nest|fastify|koa|hono|express|node)$/.test(framework)
}
