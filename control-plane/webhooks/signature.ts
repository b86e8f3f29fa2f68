/**
 * What proves to a receiver that a delivery is ours: an HMAC over the time of the attempt and the
 * very bytes of the body. While a secret is being replaced there is one for each; the newest comes
 * last, because a receiver that knows of one only mostly takes the last.
 */
import { createHmac } from 'node:crypto'

const USER_AGENT = 'Service-Webhooks/1'

/** `secrets` in the order in which they were made. */
export function signatureOf(secrets: readonly string[], unixTime: number, body: Buffer): string {
  const entries = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${unixTime}.`).update(body)
    return `v1=${hmac.digest('hex')}`
  })
  return [`t=${unixTime}`, ...entries].join(',')
}

export function deliveryHeaders(
  delivery: { readonly deliveryId: string; readonly event: string },
  signature: string,
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    'X-Service-Signature': signature,
    'X-Service-Event': delivery.event,
    'X-Service-Delivery': delivery.deliveryId,
  }
}
