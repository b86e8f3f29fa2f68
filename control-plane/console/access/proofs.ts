/**
 * What a page hands to its own forms and links, good for one session only: that a form comes from
 * a page of that person (CSRF), which sending of it this is, and what a change had to say.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { isSameSecret, type Vault } from '../../keys/vault.ts'

export type Proofs = ReturnType<typeof createProofs>

const FORM_ID = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22})$/
const NOTE = /^([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{22})$/

export function createProofs(vault: Pick<Vault, 'deriveKey'>) {
  const key = vault.deriveKey('console.proofs')
  const mac = (kind: string, sessionId: string, text: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([kind, sessionId, text]))
      .digest('base64url')
      .slice(0, 22)

  return {
    csrf: (sessionId: string): string => mac('csrf', sessionId, ''),
    isCsrf: (sessionId: string, given: string): boolean =>
      isSameSecret(given, mac('csrf', sessionId, '')),

    newFormId(sessionId: string): string {
      const random = randomBytes(12).toString('base64url')
      return `${random}.${mac('form', sessionId, random)}`
    },
    isFormId(sessionId: string, given: string): boolean {
      const [, random = '', proof = ''] = FORM_ID.exec(given) ?? []
      return isSameSecret(proof, mac('form', sessionId, random))
    },

    /** Travels in an address, where others could write something too: only what we wrote is read. */
    writeNote(sessionId: string, note: object): string {
      const text = Buffer.from(JSON.stringify(note)).toString('base64url')
      return `${text}.${mac('note', sessionId, text)}`
    },
    readNote(sessionId: string, given: string): unknown {
      const [, text = '', proof = ''] = NOTE.exec(given) ?? []
      if (!isSameSecret(proof, mac('note', sessionId, text))) return undefined
      return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    },
  }
}
