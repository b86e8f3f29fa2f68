/** By which both ends know whether the facts have changed since they were last sent. */
import { createHash } from 'node:crypto'
import { DEVICE_FACTS, type Posture } from './facts.ts'

/** The order of fields is ours, not the sender's. */
export function postureHash({ facts, os, agent }: Posture): string {
  const lines = DEVICE_FACTS.map((name) => {
    const { value, reason, detail } = facts[name]
    return [name, value, reason, detail ?? null]
  })
  const text = JSON.stringify([lines, os.id, os.version, agent])
  return createHash('sha256').update(text).digest('base64url')
}
