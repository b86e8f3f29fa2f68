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
  const secret = 'SERVICE_CLIENT_SECRET (a secret: keep it out of the project)'
  const needed = [...(isInCode ? [] : address), ...(wishes.mode === 'sdk' ? [secret] : [])]
  const notes: string[] = []
  if (needed.length > 0) notes.push(`Set where the application is started: ${needed.join(', ')}.`)
  if (isInCode)
    notes.push(
      'The code names your service and tenant. SERVICE_BASE_URL and SERVICE_TENANT_ID go first, for another environment.',
    )
  if (wishes.mode === 'sdk') return { ...NO_PARTS, notes }
  notes.push(
    'The public keys are looked for in service_public.pem of the folder that the application is started in; SERVICE_PUBLIC_KEY_FILE names another file.',
  )
  notes.push(isNode(application) ? PASSES_UNNAMED : REFUSES)
  if (healthPath !== null && isNode(application))
    notes.push(
      `A health check of a load balancer brings no signature: verifyClaims({ excluded: ['${healthPath}'] }) lets it in without one.`,
    )
  return { ...NO_PARTS, notes }
}

const PASSES_UNNAMED =
  'Until you go live visitors pass as before, without a name; from then on only what comes through the service does. While the application cannot hear from the service it lets nobody in.'
const REFUSES =
  'From its next start the application refuses all that does not come through the service, visitors of today included. Mount it right before you go live.'

export function isNode({ framework }: Application): boolean {
  return /^(?:next|nest|fastify|koa|hono|express|node)$/.test(framework)
}
