/**
 * The links of alert emails. The one that agrees stands only in the mail that asks, and is kept as a
 * hash; the one that ends them stands in every alert, which people pass on, so it does nothing else:
 * it is made of the consent that it ends, and nothing of it is kept.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { isSameSecret, type Vault } from '../keys/vault.ts'
import type { AlertRecipientRow } from '../store/queries/alert-recipients.ts'

/** Where the links lead: a page of the console for whoever has one. */
export const ALERT_EMAILS_PATH = '/console/alert-emails'

const ONE_CLICK = `${ALERT_EMAILS_PATH}/stop/`
/** For a log: whoever reads it must not be able to end somebody's alerts. */
export const withoutStopToken = (path: string): string =>
  path.startsWith(ONE_CLICK) ? `${ONE_CLICK}…` : path

type Consent = Pick<AlertRecipientRow, 'tenantId' | 'email' | 'confirmedAt'>

interface AlertLinksWorld {
  readonly vault: Pick<Vault, 'hash' | 'deriveKeys'>
  readonly baseUrl: string
}

export type AlertLinks = ReturnType<typeof createAlertLinks>

export function createAlertLinks({ vault, baseUrl }: AlertLinksWorld) {
  const keys = vault.deriveKeys('alert-stop')

  const stopTokenOf = ({ tenantId, email, confirmedAt }: Consent, key = keys[0]) => {
    const consent = JSON.stringify([tenantId, email, confirmedAt])
    return `${tenantId}.${createHmac('sha256', key).update(consent).digest('base64url')}`
  }

  return {
    newConfirmToken: () => randomBytes(24).toString('base64url'),
    confirmHashOf: (token: string) => vault.hash(`alert_recipients/confirm/${token}`),
    stopTokenOf: (consent: Consent) => stopTokenOf(consent),
    isStopTokenOf: (token: string, consent: Consent) =>
      keys.some((key) => isSameSecret(token, stopTokenOf(consent, key))),
    /** Whose alerts it ends; undefined: no such token. */
    tenantOfStopToken: (token: string) =>
      token.includes('.') ? token.slice(0, token.lastIndexOf('.')) : undefined,
    /** One POST ends it, without a page. */
    oneClick: (token: string) => `${baseUrl}${ONE_CLICK}${token}`,
    address: (token: string) => `${baseUrl}${ALERT_EMAILS_PATH}?link=${token}`,
  }
}
