/** Whether whatever else listens or answers in a program passes the guard as well. */
import { resultsOf, type CheckResult } from '../../../../shared/integration/check-result.ts'
import { isNode } from '../edits/notes.ts'
import { unguardedIn, type Unguarded } from '../edits/unguarded.ts'
import type { LocalCheck } from './looked-at.ts'
import { unguardedOnPurpose, OR_LEAVE_OPEN } from './unguarded.ts'
import { lineFor } from './line-for.ts'

const { fail, pass, skip, warn } = resultsOf('listeners_guarded')

/** By what `apply` leaves to be done by hand, so that neither claims what the other denies. */
export const listenersGuarded: LocalCheck = async (at) => {
  const { project, application, world } = at
  if (!isNode(application)) return skip('Listeners are only looked for in Node.js applications.')
  const { mount } = application
  const found = await unguardedIn(project, application)
  // that the application itself has no middleware is for another check to say
  const beside = found.filter(({ path, line }) => path !== mount?.path || line !== mount.line)
  const left = unguardedOnPurpose(beside)
  const open = beside.filter(({ reason }) => reason === null)
  const [first] = [...open].sort((a, b) => Number(b.isStarted) - Number(a.isStarted))
  if (first === undefined) return pass(`No other listener goes past the middleware.${left}`)
  const { path, line, framework, receiver, isStarted } = first
  const others = open.filter((one) => one !== first).map(placeOf)
  const also = others.length === 0 ? '' : ` So are ${others.join(', ')}.`
  const say: (detail: string, action: string) => CheckResult = isStarted ? fail : warn
  const isSo = isStarted ? 'is open without a sign-in' : 'is open without a sign-in where it is run'
  return say(
    `${path}:${line} ${isSo}: ${first.problem}.${also}${left}`,
    `${path}:${line}: ${lineFor(world.tenant, framework, receiver)}. ${OR_LEAVE_OPEN}`,
  )
}

const placeOf = ({ path, line }: Unguarded) => `${path}:${line}`
