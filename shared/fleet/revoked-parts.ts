/** The whole state of a tenant with many revocations takes several messages. */
import { LIMITS } from '../limits.ts'
import type { Revoked } from './snapshot.ts'

/** Merging all of them comes to the whole. */
export function* partsOfRevoked(revoked: Revoked): Generator<Revoked> {
  const entriesMax = LIMITS.revokedEntriesPerMessageMax
  const subjects = Object.entries(revoked.subjects)
  const sids = Object.entries(revoked.sids)
  const claims = Object.entries(revoked.claims ?? {})
  if (subjects.length + sids.length + claims.length <= entriesMax) {
    yield revoked
    return
  }
  yield { ...revoked, subjects: {}, sids: {}, claims: {} }
  for (let at = 0; at < subjects.length; at += entriesMax)
    yield { all: 0, subjects: Object.fromEntries(subjects.slice(at, at + entriesMax)), sids: {} }
  for (let at = 0; at < sids.length; at += entriesMax)
    yield { all: 0, subjects: {}, sids: Object.fromEntries(sids.slice(at, at + entriesMax)) }
  for (let at = 0; at < claims.length; at += entriesMax) {
    const some = Object.fromEntries(claims.slice(at, at + entriesMax))
    yield { all: 0, subjects: {}, sids: {}, claims: some }
  }
}
