/** Whether WebSockets pass the guard as well: Node hands them past every request handler. */
import { resultsOf } from '../../../../shared/integration/check-result.ts'
import { isNode } from '../edits/notes.ts'
import { packageOf } from '../edits/node-sources.ts'
import { openWebsockets } from '../edits/websockets.ts'
import { unguardedOnPurpose, OR_LEAVE_OPEN } from './unguarded.ts'
import { packageFolder, type LocalCheck } from './looked-at.ts'

const { fail, pass, skip } = resultsOf('websockets_guarded')

/** By what `apply` leaves to be done by hand, so that neither claims what the other denies. */
export const websocketsGuarded: LocalCheck = async (at) => {
  const { project, application, world } = at
  if (!isNode(application)) return skip('WebSockets are only checked in Node.js applications.')
  const folder = packageFolder(at)
  const pack = await packageOf(project, { ...application, folder })
  const { baseUrl, tenant } = world
  const wishes = { mode: tenant.mode, baseUrl, tenantId: tenant.tenant_id }
  const found = await openWebsockets({ project, folder, pack, wishes }, new Map())
  const left = unguardedOnPurpose(
    found.map(({ step: { path, line }, reason }) => ({ path, line, reason })),
  )
  const steps = found.flatMap(({ step, reason }) => (reason === null ? [step] : []))
  const [first] = steps
  if (first === undefined) return pass(`No WebSocket bypasses the middleware.${left}`)
  const places = steps.map(({ path, line }) => `${path}:${line}`).join(', ')
  return fail(
    `${places} accepts WebSockets that bypass the middleware, so they open without a sign-in.${left}`,
    `${first.path}:${first.line}: ${first.text.split('. ')[0]}. The code for it: service-analyzer apply --dry-run. ${OR_LEAVE_OPEN}`,
  )
}
