/**
 * What a page hands to its own forms and links, good for one person only: that a form comes from
 * a page of theirs (CSRF), which sending of it this is, and what a change had to say. Of the person
 * and not of the session: who signs in again in one tab goes on in the others.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { LIMITS } from '../../shared/limits.ts'
import { isSameSecret } from '../keys/vault.ts'
import type { ConsoleAccessWorld } from './world.ts'

/** When the page was made, for whom, and that it was us. */
const TOKEN = /^([0-9a-z]{1,11})\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{22})$/
const FORM_ID = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22})$/
const NOTE = /^([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{22})$/

export function createProofs({ vault, clock }: ConsoleAccessWorld) {
  const keys = vault.deriveKeys('console.proofs')
  const mac = (kind: string, userId: string, text: string, key = keys[0]) =>
    createHmac('sha256', key)
      .update(JSON.stringify([kind, userId, text]))
      .digest('base64url')
      .slice(0, 22)

  const isMac = (proof: string, kind: string, userId: string, text: string): boolean =>
    keys.some((key) => isSameSecret(proof, mac(kind, userId, text, key)))

  /** Whose page the form is from; a page is as old as a session can become, and no older. */
  function csrfHolder(given: string): string | undefined {
    const [, madeAt = '', userId = '', proof = ''] = TOKEN.exec(given) ?? []
    if (!isMac(proof, 'csrf', userId, madeAt)) return undefined
    const isOld = clock.nowMs() - parseInt(madeAt, 36) > LIMITS.consoleSessionMs
    return isOld ? undefined : userId
  }

  return {
    csrf(userId: string): string {
      const madeAt = clock.nowMs().toString(36)
      return `${madeAt}.${userId}.${mac('csrf', userId, madeAt)}`
    },
    csrfHolder,
    isCsrf: (userId: string, given: string): boolean => csrfHolder(given) === userId,

    newFormId(userId: string): string {
      const random = randomBytes(12).toString('base64url')
      return `${random}.${mac('form', userId, random)}`
    },
    isFormId(userId: string, given: string): boolean {
      const [, random = '', proof = ''] = FORM_ID.exec(given) ?? []
      return isMac(proof, 'form', userId, random)
    },

    /** Travels in an address, where others could write something too: only what we wrote is read. */
    writeNote(userId: string, note: object): string {
      const text = Buffer.from(JSON.stringify(note)).toString('base64url')
      return `${text}.${mac('note', userId, text)}`
    },
    readNote(userId: string, given: string): unknown {
      const [, text = '', proof = ''] = NOTE.exec(given) ?? []
      if (!isMac(proof, 'note', userId, text)) return undefined
      return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    },
  }
}
